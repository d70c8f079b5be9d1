"""`reflecto hook claude-code` and `reflecto hook codex`: what an agent gives them, and what it gets back."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reflecto import Reflecto, ReflectoError
from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import Machine, Prompt
from reflecto.cli.agents_files import read_text
from reflecto.cli.hook_asking import HookAsking
from reflecto.cli.main import main
from reflecto.cli.open_calls import OpenCalls
from tests.agents.events import claude_code, codex, with_input
from tests.client.asker_server import (
    TOKEN,
    AskerServer,
    FakeClock,
    Fault,
    Reply,
    lost_after_handling,
    lost_before_handling,
    replying,
    rewriting,
)
from tests.client.signing_phone import SigningPhone

WAIT_SECONDS = 20
CLAUDE_CODE = [sys.executable, "-m", "reflecto.cli.main", "hook", "claude-code"]
ALLOW = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
Output = pytest.CaptureFixture[str]


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Put an event, or any bytes, on standard input."""

    def on_standard_input(event: object) -> None:
        raw = event if isinstance(event, bytes) else json.dumps(event).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    return on_standard_input


PHONE = SigningPhone()


def tap(asker: AskerServer, index: int = 0, *, number: str | None = None, comment: str | None = None) -> None:
    """Tap as soon as the hook waits; its first look is whether the details have arrived."""

    def on_poll(_count: int) -> None:
        if asker.received[-1].path.partition("?")[2]:
            PHONE.answers(asker, index, number=number, comment=comment)

    asker.on_poll = on_poll


def own_prompt() -> Prompt:
    """Return what the hook's command asks for the command that is pushed."""
    machine = Machine(socket.gethostname(), str(Path.home()), read_text)
    return read_call(claude_code("permission_bash"), machine=machine).prompts[0]


def test_a_tap_prints_one_object_and_nothing_else(asker: AskerServer, give, capsys: Output):
    tap(asker)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == ALLOW
    assert len(out.splitlines()) == 1
    assert err == ""
    asked = asker.prompts[0]
    assert asked["question"] == "Run a command in /home/ada/shop?"
    assert asked["choices"][:2] == ["Allow", "Deny"]
    assert {name: asked[name] for name in own_prompt().given} == own_prompt().given
    assert 560 < asked["expires_in"] <= 590
    assert asked["idempotency_key"] == own_prompt().key


def test_a_denial_carries_its_message(asker: AskerServer, give, capsys: Output):
    tap(asker, 1)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    decision = json.loads(capsys.readouterr().out)["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "deny"
    assert decision["message"]


def test_the_word_that_came_with_a_denial_is_the_agents_reason(asker: AskerServer, give, capsys: Output):
    tap(asker, 1, comment="use staging")
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    decision = json.loads(capsys.readouterr().out)["hookSpecificOutput"]["decision"]
    assert decision["message"] == "The user denied this on the phone and says: use staging"


def test_the_rule_that_the_agent_proposed_goes_back_to_it(asker: AskerServer, give, capsys: Output):
    tap(asker, 2)
    event = claude_code("permission_bash")
    give(event)
    assert main(["hook", "claude-code"]) == 0
    decision = json.loads(capsys.readouterr().out)["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "allow", "updatedPermissions": event["permission_suggestions"]}


DANGEROUS = with_input(claude_code("permission_bash"), command="git push --force")


def test_what_is_dangerous_is_allowed_with_the_number_that_shows_here(
    asker: AskerServer, give, capsys: Output, monkeypatch: pytest.MonkeyPatch
):
    shown: list[str] = []

    def tap_what_shows(_count: int) -> None:
        if asker.received[-1].path.partition("?")[2]:
            shown.extend(OpenCalls().shown())
            PHONE.answers(asker, 0, number=shown[0].partition(" ")[0])

    monkeypatch.delenv("TMUX", raising=False)
    asker.on_poll = tap_what_shows
    give(DANGEROUS)
    assert main(["hook", "claude-code", "--confirm", "number"]) == 0
    assert json.loads(capsys.readouterr().out) == ALLOW
    assert shown == ["07  Run a command in /home/ada/shop?"]
    assert (asker.prompts[0]["danger"], asker.prompts[0]["confirm"]) == ("high", "number")
    assert OpenCalls().shown() == []


def test_another_number_than_the_one_that_shows_allows_nothing(asker: AskerServer, give, capsys: Output):
    tap(asker, 0, number="70")
    give(DANGEROUS)
    assert main(["hook", "claude-code", "--confirm", "number"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "another number was typed" in err


def test_a_server_or_phones_that_know_no_details_are_asked_in_one_text(asker: AskerServer, give, capsys: Output):
    asker.faults["POST"].append(replying(Reply.error(426, "phone_app_outdated")))
    tap(asker)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    assert json.loads(capsys.readouterr().out) == ALLOW
    (asked,) = asker.prompts
    assert asked["question"].startswith("Claude Code: Bash\nFolder: /home/ada/shop\n")
    assert asked["choices"] == ["Allow", "Deny"]
    assert asked.keys() == {"question", "choices", "expires_in", "idempotency_key", "tether"}


def test_what_an_older_server_stored_without_details_is_withdrawn_and_asked_in_one_text(
    asker: AskerServer, give, capsys: Output
):
    asker.faults["GET"].append(rewriting(lambda state: state.pop("digest")))
    tap(asker)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    assert json.loads(capsys.readouterr().out) == ALLOW
    first, second = asker.prompts
    assert (first["question"], second["question"][:17]) == ("Run a command in /home/ada/shop?", "Claude Code: Bash")
    assert [request.method for request in asker.received][:4] == ["POST", "GET", "DELETE", "POST"]


@pytest.mark.parametrize("confirm", ["number", "hold"])
def test_what_the_person_chose_for_dangerous_calls_is_never_quietly_less(
    asker: AskerServer, give, capsys: Output, confirm: str
):
    asker.faults["POST"].append(replying(Reply.error(426, "phone_app_outdated")))
    tap(asker)
    give(DANGEROUS)
    assert main(["hook", "claude-code", "--confirm", confirm]) == 0
    assert capsys.readouterr() == ("", "")
    assert asker.prompts == []


def test_codex_gets_a_body_of_its_own(asker: AskerServer, give, capsys: Output):
    tap(asker)
    give(codex("permission_bash"))
    assert main(["hook", "codex", "--timeout", "2m"]) == 0
    assert json.loads(capsys.readouterr().out) == ALLOW
    assert asker.prompts[0]["source"]["app"] == "Codex"
    assert 100 < asker.prompts[0]["expires_in"] <= 110


def test_the_agents_questions_are_asked_one_after_the_other(asker: AskerServer, give, capsys: Output):
    tap(asker, 1)
    give(claude_code("pre_tool_use_ask_user_question"))
    assert main(["hook", "claude-code"]) == 0
    output = json.loads(capsys.readouterr().out)["hookSpecificOutput"]
    assert output["updatedInput"]["answers"] == {
        "Where should this be deployed?": "Production",
        "Which database?": "Migrate",
    }
    assert len(asker.prompts) == 2


def test_one_that_is_left_to_the_terminal_leaves_all_to_it(asker: AskerServer, give, capsys: Output):
    tap(asker, 2)
    give(claude_code("pre_tool_use_ask_user_question"))
    assert main(["hook", "claude-code"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(asker.prompts) == 1


def refusing(reply: Reply) -> Callable[[AskerServer], object]:
    return lambda asker: asker.faults["POST"].append(replying(reply))


def lying(asker: AskerServer) -> None:
    tap(asker)
    honest: Fault = lambda handle: handle()  # noqa: E731
    asker.faults["GET"] += [honest, rewriting(lambda state: state.update(choice_index=1))]


NO_DECISION: dict[str, Callable[[AskerServer], object]] = {
    "expired": lambda asker: setattr(asker, "on_poll", lambda _count: asker.end(status="expired")),
    "cancelled": lambda asker: setattr(asker, "on_poll", lambda _count: asker.end(status="cancelled")),
    "no phone": refusing(Reply.error(409, "no_phone_device")),
    "too many questions": refusing(Reply.error(429, "too_many_pending")),
    "token revoked": refusing(Reply.json(401, {"error": "invalid_token"})),
    "server failed for good": refusing(Reply.error(400, "invalid_question")),
    "a reply that makes no sense": refusing(Reply(200, b"Allow")),
    "an answer that breaks the contract": lying,
    "a redirect": refusing(Reply(301, b"", {"Location": "https://elsewhere.example"})),
}


@pytest.mark.parametrize("prepare", NO_DECISION.values(), ids=NO_DECISION)
def test_whatever_is_no_tap_is_no_decision(
    asker: AskerServer, give, capsys: Output, prepare: Callable[[AskerServer], object]
):
    prepare(asker)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    assert capsys.readouterr().out == ""
    assert not asker.faults["POST"]


def test_a_server_that_cannot_be_reached_is_no_decision_and_told_on_standard_error(
    asker: AskerServer, give, capsys: Output, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("reflecto.cli.hook_run.RETRY_SECONDS", 0.0)
    asker.stop()
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Error: cannot reach {asker.url}")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff\xfe", b'"Allow"'])
def test_input_that_is_no_object_is_no_decision(asker: AskerServer, give, capsys: Output, raw: bytes):
    give(raw)
    assert main(["hook", "claude-code"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: the hook's input is not")
    assert asker.received == []


def test_a_fault_of_this_program_is_no_decision(give, capsys: Output, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reflecto.agents.claude_code.read_call", lambda *_: 1 // 0)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "ZeroDivisionError" in err


def test_without_server_and_token_there_is_no_decision(asker: AskerServer, give, capsys: Output, monkeypatch):
    monkeypatch.delenv("REFLECTO_TOKEN")
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "reflecto login" in err
    assert asker.received == []


@pytest.mark.parametrize(
    "arguments", [["--yes"], ["--timeout", "soon"], ["claude-code"]], ids=["option", "timeout", "argument"]
)
def test_no_mistake_on_its_command_line_exits_2_which_would_be_a_refusal(capsys: Output, arguments: list[str]):
    assert main(["hook", "claude-code", *arguments]) == 1
    assert capsys.readouterr().out == ""


def test_the_token_cannot_come_from_where_the_event_comes_from(asker: AskerServer, give, capsys: Output):
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code", "--token", "-"]) == 0
    assert capsys.readouterr().out == ""
    assert asker.received == []


@pytest.mark.parametrize("name", ["permission_ask_user_question", "pre_tool_use_bash", "session_start"])
def test_events_that_need_no_phone_touch_no_server(asker: AskerServer, give, capsys: Output, name: str):
    asker.stop()
    give(claude_code(name))
    assert main(["hook", "claude-code"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_skipped_notification_is_not_sent(asker: AskerServer, give):
    give(claude_code("notification_permission"))
    assert main(["hook", "claude-code", "--skip", "idle_prompt", "--skip", "permission_prompt"]) == 0
    assert asker.received == []


@pytest.mark.parametrize(
    ("arguments", "event", "title"),
    [
        (["claude-code"], claude_code("notification_idle"), "Claude Code · shop"),
        (["claude-code"], claude_code("stop"), "Claude Code: done · shop"),
        (["codex"], codex("stop"), "Codex: done · shop"),
        (["codex", json.dumps(codex("notify"))], None, "Codex: done · shop"),
    ],
    ids=["notification", "stop", "codex stop", "codex notify"],
)
def test_notices_are_sent(asker: AskerServer, give, capsys: Output, arguments: list[str], event: object, title: str):
    sent = Reply.json(200, {"id": "msg_" + "0" * 32, "delivered_to": [], "warnings": []})
    asker.faults["POST"].append(replying(sent))
    give(event)
    assert main(["hook", *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert [(request.path, request.json["title"]) for request in asker.received] == [("/v1/send", title)]


def test_a_lost_reply_never_prompts_twice(asker: AskerServer, give, capsys: Output):
    asker.faults["POST"].append(lost_after_handling)
    tap(asker)
    give(claude_code("permission_bash"))
    assert main(["hook", "claude-code"]) == 0
    assert json.loads(capsys.readouterr().out) == ALLOW
    assert len(asker.prompts) == 1


def test_an_answer_is_never_taken_for_a_later_call_that_looks_the_same(asker: AskerServer, give, capsys: Output):
    decisions = []
    for index in (0, 1, 0):
        tap(asker, index)
        give(claude_code("permission_bash"))
        main(["hook", "claude-code"])
        decision = json.loads(capsys.readouterr().out)["hookSpecificOutput"]["decision"]
        decisions.append(decision["behavior"])
    assert decisions == ["allow", "deny", "allow"]
    assert len(asker.prompts) == 3


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def troubles() -> list[ReflectoError]:
    """What the client tried again because of."""
    return []


@pytest.fixture
def client(asker: AskerServer, clock: FakeClock, troubles: list[ReflectoError]) -> Iterator[Reflecto]:
    note = lambda error: troubles.append(error) if error else None  # noqa: E731
    with Reflecto(
        asker.url, TOKEN, clock=clock.read, sleep=clock.pause, jitter=lambda: 0.5, on_trouble=note
    ) as reflecto:
        yield reflecto


def test_silence_withdraws_the_question_before_the_hooks_time_is_over(
    asker: AskerServer, client: Reflecto, troubles, clock: FakeClock
):
    call = read_call(claude_code("permission_bash"))
    assert HookAsking(client, 600, troubles, clock.read).decide(call) == {}
    assert asker.latest["status"] == "cancelled"
    assert asker.prompts[0]["expires_in"] == 590
    assert 590 <= clock.now - 50 < 600


def test_a_hook_with_little_time_still_withdraws_within_it(
    asker: AskerServer, client: Reflecto, troubles, clock: FakeClock
):
    call = read_call(claude_code("permission_bash"))
    assert HookAsking(client, 8, troubles, clock.read).decide(call) == {}
    assert asker.latest["status"] == "cancelled"
    assert asker.prompts[0]["expires_in"] == 60
    assert clock.now - 50 < 8


def test_a_tap_at_the_last_moment_counts(asker: AskerServer, client: Reflecto, troubles, clock: FakeClock):
    def answered_first(handle: Callable[[], Reply]) -> Reply:
        PHONE.answers(asker)
        return handle()

    asker.faults["DELETE"].append(answered_first)
    call = read_call(claude_code("permission_bash"))
    assert HookAsking(client, 600, troubles, clock.read).decide(call) == ALLOW


def test_a_repeat_joins_the_question_that_is_open(asker: AskerServer, client: Reflecto, troubles, clock: FakeClock):
    call = read_call(claude_code("permission_bash"))
    prompt = call.prompts[0]
    first = client.create(prompt.question, prompt.choices, idempotency_key=prompt.key, **prompt.given)
    asker.on_poll = lambda count: PHONE.answers(asker) if count > 2 else None
    assert HookAsking(client, 600, troubles, clock.read).decide(call) == ALLOW
    assert asker.latest["id"] == first.id
    assert len(asker.prompts) == 1


def test_a_tap_before_the_retry_of_a_lost_reply_is_this_calls(
    asker: AskerServer, client: Reflecto, troubles, clock: FakeClock
):
    def tapped_and_lost(handle: Callable[[], Reply]) -> Reply:
        reply = lost_after_handling(handle)
        PHONE.answers(asker)
        return reply

    asker.faults["POST"].append(tapped_and_lost)
    call = read_call(claude_code("permission_bash"))
    assert HookAsking(client, 600, troubles, clock.read).decide(call) == ALLOW
    assert len(asker.prompts) == 1


def test_also_after_a_lost_reply_an_older_answer_is_not_taken_for_this_calls(
    asker: AskerServer, client: Reflecto, troubles, clock: FakeClock
):
    call = read_call(claude_code("permission_bash"))
    tap(asker)
    assert HookAsking(client, 600, troubles, clock.read).decide(call) == ALLOW
    asker.clock_offset_seconds = 5  # so long ago
    tap(asker, 1)
    asker.faults["POST"].append(lost_after_handling)
    reply = HookAsking(client, 600, troubles, clock.read).decide(call)
    assert reply["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert len(asker.prompts) == 2


def start(stdout: int = subprocess.PIPE) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(CLAUDE_CODE, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(claude_code("permission_bash")).encode())
    process.stdin.close()
    process.stdin = None
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_agent_that_stops_its_hook_takes_the_prompt_off_the_phone(asker: AskerServer, number: signal.Signals):
    asker.holds_polls = True
    with start() as process:
        asker.wait_until_polled()
        process.send_signal(number)
        out, _ = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (128 + number, b"")
    assert asker.latest["status"] == "cancelled"


def test_an_agent_that_no_longer_reads_takes_the_prompt_off_the_phone(asker: AskerServer):
    asker.holds_polls = True
    reading, writing = os.pipe()
    with start(stdout=writing) as process:
        os.close(writing)
        asker.wait_until_polled()
        os.close(reading)
        process.communicate(timeout=WAIT_SECONDS)
    assert asker.latest["status"] == "cancelled"


AGENT_THAT_DIES = """
import subprocess, sys
subprocess.Popen(sys.argv[1:], stdin=sys.stdin, stdout=sys.stdout).wait()
"""


def test_a_hook_whose_agent_died_takes_the_prompt_off_the_phone(asker: AskerServer):
    asker.holds_polls = True
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT_THAT_DIES, *CLAUDE_CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with agent:
        assert agent.stdin is not None
        agent.stdin.write(json.dumps(claude_code("permission_bash")).encode())
        agent.stdin.close()
        asker.wait_until_polled()
        agent.kill()
        agent.wait(WAIT_SECONDS)
        assert agent.stdout is not None
        assert agent.stdout.read() == b""  # its end comes when the hook, which has it too, has ended
    assert asker.latest["status"] == "cancelled"


def test_interrupted_before_the_servers_reply_it_finds_the_question_and_withdraws_it(asker: AskerServer):
    def interrupt_then_lose(handle: Callable[[], Reply]) -> Reply:
        handle()
        process.send_signal(signal.SIGTERM)
        return lost_before_handling(handle)

    asker.faults["POST"].append(interrupt_then_lose)
    with start() as process:
        out, _ = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (143, b"")
    assert asker.latest["status"] == "cancelled"
    assert len(asker.prompts) == 1


def test_the_token_is_never_printed(asker: AskerServer, give, capsys: Output):
    leak = Reply.json(409, {"error": {"code": "no_phone_device", "message": f"token {TOKEN} has no phone"}})
    asker.faults["POST"].append(replying(leak))
    give(claude_code("permission_bash"))
    main(["hook", "claude-code"])
    out, err = capsys.readouterr()
    assert "has no phone" in err
    assert TOKEN not in out + err
