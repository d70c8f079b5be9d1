"""`reflecto mcp`: the official client starts it, as an agent does; the server is real, and so is the time."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.actors import Program
from tests.e2e.server_process import REFLECTO
from tests.fakes import BOUND_SECONDS
from tests.mcp.calling import QUESTION, Progress, calling, content, error_text
from tests.mcp.tapping import Person
from tests.running import RunningServer

# The same command, whose calls are held for less than a second.
SHORT_HOLD_SCRIPT = (
    "import sys, reflecto.agents.tool_calls as tools; tools.HOLD_SECONDS = 0.5\n"
    "from reflecto.cli.main import main; sys.exit(main(['mcp']))"
)
SHORT_HOLD = (sys.executable, "-c", SHORT_HOLD_SCRIPT)
START_SECONDS = 30  # a bound for a busy machine


def settings(server: RunningServer, token: str) -> dict[str, str]:
    return {"REFLECTO_URL": f"http://127.0.0.1:{server.port}", "REFLECTO_TOKEN": token, "NO_PROXY": "*"}


@asynccontextmanager
async def started(
    server: RunningServer, token: str, command: tuple[str, ...] = (*REFLECTO, "mcp")
) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=settings(server, token))
    async with asyncio.timeout(START_SECONDS), Client(parameters) as client:
        yield client


async def test_taps_on_the_phone_are_the_results_of_calls_that_run_at_once(
    server: RunningServer, sender: Program, person: Person
):
    progress = Progress()
    async with (
        started(server, sender.token) as client,
        calling(client, "ask_user", QUESTION, progress_callback=progress.take) as first,
        calling(client, "ask_user", QUESTION | {"choices": ["Drop", "Keep"]}) as second,
    ):
        prompts = {tuple(prompt.payload["choices"]): prompt for prompt in [await person.sees(), await person.sees()]}
        await person.taps(prompts["Drop", "Keep"], 1)
        assert content(await second)["choice"] == "Keep"
        assert not first.done()
        await person.taps(prompts["Approve", "Deny"], 0)
        assert (content(await first)["choice"], content(await first)["receipt_verified"]) == ("Approve", True)
    assert [message for _, _, message in progress.reports] == ["The question is on the person's phone"]


async def test_a_call_returns_as_pending_and_waiting_goes_on_with_its_id(
    server: RunningServer, sender: Program, person: Person
):
    async with started(server, sender.token, SHORT_HOLD) as client:
        async with calling(client, "ask_user", QUESTION) as call:
            pending = content(await call)
        assert pending["status"] == "pending"
        prompt = await person.sees()
        async with calling(client, "wait_for_answer", {"id": prompt.id}) as call:
            assert content(await call)["status"] == "pending"
        await person.taps(prompt)
        async with calling(client, "wait_for_answer", {"id": prompt.id}) as call:
            assert content(await call)["choice"] == "Approve"


async def test_a_client_that_gives_up_and_repeats_the_call_prompts_once(
    server: RunningServer, sender: Program, person: Person
):
    async with started(server, sender.token) as client:
        with pytest.raises(MCPError, match=r"[Tt]imed out"):
            await client.call_tool("ask_user", QUESTION, read_timeout_seconds=1)
        prompt = await person.sees()
        async with calling(client, "ask_user", QUESTION) as call:
            await sender.call("POST", "/v1/send", json={"message": "no second prompt came before this"})
            await person.sees("notification")
            await person.taps(prompt)
            assert content(await call)["id"] == prompt.id


async def test_when_the_agent_ends_its_question_vanishes_from_the_phone(
    server: RunningServer, sender: Program, person: Person
):
    async with started(server, sender.token) as client, calling(client, "ask_user", QUESTION):
        prompt = await person.sees()
    closed = await person.sees("interaction.closed")
    assert (closed.id, closed.payload["status"]) == (prompt.id, "cancelled")


async def test_a_signal_withdraws_the_question_and_is_the_exit_code(
    server: RunningServer, sender: Program, person: Person
):
    process = await asyncio.create_subprocess_exec(
        *REFLECTO,
        "mcp",
        env=os.environ | settings(server, sender.token),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(START_SECONDS):
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        lines: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "ask_user", "arguments": QUESTION}},
        ]
        assert process.stdin is not None
        process.stdin.write("".join(json.dumps({"jsonrpc": "2.0"} | line) + "\n" for line in lines).encode())
        prompt = await person.sees()
        process.send_signal(signal.SIGTERM)
        closed = await person.sees("interaction.closed")
        assert await process.wait() == 128 + signal.SIGTERM
        assert closed.id == prompt.id
        process.stdin.close()


async def test_a_wrong_token_is_an_error_in_words(server: RunningServer):
    async with (
        started(server, "rfk_live_" + "x" * 32) as client,
        calling(client, "ask_user", QUESTION) as call,
    ):
        error = error_text(await call)
    assert error.startswith("invalid_token: ")
    assert error.endswith("Nothing was approved.")


async def test_without_settings_it_says_what_is_missing_and_starts_nothing(tmp_path):
    process = await asyncio.create_subprocess_exec(
        *REFLECTO,
        "mcp",
        env=os.environ | {"REFLECTO_CLIENT_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path)},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(BOUND_SECONDS):
        _, complaint = await process.communicate()
    assert process.returncode == 2
    assert b"reflecto login" in complaint
