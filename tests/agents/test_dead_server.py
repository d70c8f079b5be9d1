"""How long a server that is dead holds an agent up: a bounded time, whatever way it is dead, and then no decision.

The times here are short, to be told from the time-outs of sockets; bench/dead_server.py has the real ones.
"""

import asyncio
import io
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reflecto import AsyncReflecto
from reflecto.agents.kept_questions import KeptQuestions
from reflecto.agents.tool_calls import REPLY_SECONDS, Caller, ToolCall, approve_tool_use
from reflecto.agents.tool_models import ApproveToolUse
from reflecto.cli.main import main
from tests.agents.dead_servers import DEAD, four_addresses, never_replies
from tests.agents.events import claude_code, codex
from tests.client.asker_server import TOKEN, AskerServer, Reply, lost_before_handling
from tests.fakes import BOUND_SECONDS

SHORT_SECONDS = 0.3
SOCKET_SECONDS = 60.0
HELD_UP_MAX_SECONDS = 15.0  # far more than the short time, for a loaded machine, and far less than the sockets'
WAITING_FOR_THE_HOOK = {
    "AskUserQuestion": (["claude-code"], claude_code("pre_tool_use_ask_user_question")),
    "Notification": (["claude-code"], claude_code("notification_idle")),
    "Codex's PermissionRequest": (["codex"], codex("permission_bash")),
    "Codex's notify": (["codex", json.dumps(codex("notify"))], {}),
}
Output = pytest.CaptureFixture[str]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Short times for the hook, long ones for its sockets."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("REFLECTO_TOKEN", TOKEN)
    monkeypatch.setattr("reflecto.cli.hook_run.REPLY_SECONDS", SHORT_SECONDS)
    monkeypatch.setattr("reflecto.cli.hook_run.CONNECT_SECONDS", SOCKET_SECONDS)
    monkeypatch.setattr("reflecto.client.protocol.REQUEST_TIMEOUT_SECONDS", SOCKET_SECONDS)


def run_hook(arguments: list[str], event: object, monkeypatch: pytest.MonkeyPatch) -> float:
    """Run the hook and return for how many seconds it held the agent up."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    began = time.monotonic()
    assert main(["hook", *arguments]) == 0
    return time.monotonic() - began


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("dead", DEAD)
@pytest.mark.parametrize("kind", WAITING_FOR_THE_HOOK)
def test_an_agent_that_waits_is_let_go_without_a_decision(
    dead: str, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
):
    arguments, event = WAITING_FOR_THE_HOOK[kind]
    with DEAD[dead]() as port:
        monkeypatch.setenv("REFLECTO_URL", f"http://reflecto.localhost:{port}")
        monkeypatch.setattr(socket, "getaddrinfo", _addresses(dead))
        held_up = run_hook(arguments, event, monkeypatch)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert held_up < HELD_UP_MAX_SECONDS


def _addresses(dead: str) -> Callable[..., object]:
    if "four" in dead:
        return four_addresses
    return lambda *arguments, **named: four_addresses(*arguments, **named)[:1]


@pytest.mark.usefixtures("short")
def test_a_name_that_is_looked_up_for_ever_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, capsys: Output):
    found = threading.Event()

    def look_up(*_arguments: object, **_named: object) -> list[object]:
        found.wait(SOCKET_SECONDS)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("REFLECTO_URL", "http://reflecto.localhost:1")
    arguments, event = WAITING_FOR_THE_HOOK["AskUserQuestion"]
    held_up = run_hook(arguments, event, monkeypatch)
    found.set()
    assert capsys.readouterr().out == ""
    assert held_up < HELD_UP_MAX_SECONDS


@pytest.mark.usefixtures("short")
def test_a_question_that_was_stored_without_a_word_ends_by_its_tether(
    asker: AskerServer, monkeypatch: pytest.MonkeyPatch, capsys: Output
):
    is_over = threading.Event()

    def stored_and_silent(handle: Callable[[], Reply]) -> Reply:
        handle()
        is_over.wait(SOCKET_SECONDS)
        return lost_before_handling(handle)

    asker.faults["POST"].append(stored_and_silent)
    arguments, event = WAITING_FOR_THE_HOOK["AskUserQuestion"]
    held_up = run_hook(arguments, event, monkeypatch)
    is_over.set()
    assert capsys.readouterr().out == ""
    assert held_up < HELD_UP_MAX_SECONDS
    assert [prompt["tether"] for prompt in asker.prompts] == [20]
    assert len(asker.received) == 1


class Steered:
    """`tool_wait.WaitClock` whose time ends when the test says so; `paused` has what was waited for."""

    is_stopping = False

    def __init__(self) -> None:
        self.paused: list[float] = []
        self.over = asyncio.Event()

    def now(self) -> float:
        return 0.0

    async def pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        await self.over.wait()


async def told(_seconds: float, _message: str) -> None:
    """Be told of progress."""


async def test_the_permission_tool_denies_what_nobody_could_be_asked_in_time():
    waiting = Steered()
    kept = KeptQuestions(waiting.pause)
    with never_replies() as port:
        async with asyncio.timeout(BOUND_SECONDS), AsyncReflecto(f"http://127.0.0.1:{port}", TOKEN) as client:
            call = ToolCall(Caller("", client, "/home/ada"), told, waiting, kept)
            waiting.over.set()
            decision = await approve_tool_use(call, ApproveToolUse(tool_name="Bash", input={"command": "ls"}))
            await kept.close()
    assert decision.behavior == "deny"
    assert "no reply from the server within 2 seconds" in (decision.message or "")
    assert waiting.paused[0] == REPLY_SECONDS


async def test_a_question_that_may_have_been_asked_is_not_asked_again_to_withdraw_it():
    waiting = Steered()
    asker = AskerServer()
    asker.start()
    asker.faults["POST"].append(lost_before_handling)
    kept = KeptQuestions(waiting.pause)
    try:
        async with asyncio.timeout(BOUND_SECONDS), AsyncReflecto(asker.url, TOKEN, retry_for=0) as client:
            call = ToolCall(Caller("", client, "/home/ada"), told, waiting, kept)
            decision = await approve_tool_use(call, ApproveToolUse(tool_name="Bash", input={"command": "ls"}))
            waiting.over.set()
            await asyncio.gather(*kept.withdrawals)
            await kept.close()
    finally:
        asker.stop()
    assert decision.behavior == "deny"
    assert asker.prompts == []
