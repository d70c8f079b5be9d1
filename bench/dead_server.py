"""For how long a server that is dead holds up an agent that waits, from the start of the command to its end.

`python -m bench.dead_server`; the first row is what the command itself takes, for an event that needs no server.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench._report import percentile, print_table
from tests.agents.dead_servers import DEAD
from tests.agents.events import claude_code, codex
from tests.client.asker_server import TOKEN
from tests.e2e.server_process import environment

MAIN = [sys.executable, "-m", "reflecto.cli.main"]
# A name with four addresses, without a change to this machine: what the command imports at its start.
NAMED = "import socket\nfrom tests.agents.dead_servers import four_addresses\nsocket.getaddrinfo = four_addresses\n"
HOOKS = {
    "AskUserQuestion": (["hook", "claude-code"], claude_code("pre_tool_use_ask_user_question")),
    "Notification": (["hook", "claude-code"], claude_code("notification_idle")),
    "Codex, PermissionRequest": (["hook", "codex"], codex("permission_bash")),
    "Codex, notify": (["hook", "codex", json.dumps(codex("notify"))], {}),
}
NOT_OURS = (["hook", "claude-code"], claude_code("session_start"))
PERMISSION = {"tool_name": "Bash", "input": {"command": "ls"}}


def seconds_of_hook(hook: tuple[Sequence[str], object], env: dict[str, str]) -> float:
    """Return how long the hook ran, which has to end without a decision."""
    arguments, event = hook
    began = time.perf_counter()
    ran = subprocess.run(
        [*MAIN, *arguments], input=json.dumps(event).encode(), env=env, capture_output=True, check=True
    )
    assert ran.stdout == b""
    return time.perf_counter() - began


async def seconds_of_tool(env: dict[str, str]) -> float:
    """Return how long `approve_tool_use` took, which has to deny."""
    server = StdioServerParameters(command=MAIN[0], args=[*MAIN[1:], "mcp"], env=env)
    async with Client(stdio_client(server)) as client:
        began = time.perf_counter()
        result = await client.call_tool("approve_tool_use", PERMISSION)
        seconds = time.perf_counter() - began
    assert '"deny"' in str(result.content)
    return seconds


@contextmanager
def dead_environment(kind: str) -> Iterator[dict[str, str]]:
    """Give the environment of a command whose server is dead in this way."""
    with tempfile.TemporaryDirectory() as folder, DEAD[kind]() as port:
        env = environment() | {"REFLECTO_URL": f"http://127.0.0.1:{port}", "REFLECTO_TOKEN": TOKEN}
        env["XDG_RUNTIME_DIR"] = folder
        if "four" in kind:
            Path(folder, "sitecustomize.py").write_text(NAMED)
            env["PYTHONPATH"] = os.pathsep.join([folder, str(Path(__file__).parents[1])])
        yield env


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    rows: list[Sequence[str]] = []

    def add(name: str, kind: str, seconds: list[float]) -> None:
        rows.append([f"{name}: {kind}", f"{percentile(seconds, 50):.2f} s", f"{max(seconds):.2f} s"])

    add("an event that needs no server", "any", [seconds_of_hook(NOT_OURS, environment()) for _ in range(rounds)])
    for kind in DEAD:
        with dead_environment(kind) as env:
            for name, hook in HOOKS.items():
                add(name, kind, [seconds_of_hook(hook, env) for _ in range(rounds)])
            add("MCP, approve_tool_use", kind, [asyncio.run(seconds_of_tool(env)) for _ in range(rounds)])
    print_table("An agent that waits, and a server that is dead", ["what waits: the server", "median", "longest"], rows)


if __name__ == "__main__":
    main()
