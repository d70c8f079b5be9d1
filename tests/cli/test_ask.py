"""`reflecto ask`: what it prints, where, and what it exits with."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflecto.cli.main import main
from tests.client.asker_server import (
    TOKEN,
    AskerServer,
    Reply,
    lost_after_handling,
    lost_before_handling,
    replying,
    rewriting,
)

WAIT_SECONDS = 20
ASK = [sys.executable, "-m", "reflecto.cli.main", "ask"]
Output = pytest.CaptureFixture[str]


def tap(asker: AskerServer, index: int = 0) -> None:
    asker.on_poll = lambda _count: asker.answer(index)


def printed_json(capsys: Output) -> Any:
    return json.loads(capsys.readouterr().out)


def test_the_first_choice_exits_0_and_only_its_label_is_printed(asker: AskerServer, capsys: Output):
    tap(asker)
    assert main(["ask", "Deploy to production?"]) == 0
    assert capsys.readouterr() == ("Approve\n", "")
    assert asker.prompts[0]["question"] == "Deploy to production?"


@pytest.mark.parametrize("index", [1, 2])
def test_any_other_choice_exits_1(asker: AskerServer, capsys: Output, index: int):
    tap(asker, index)
    assert main(["ask", "PR 482", "-c", "Merge", "-c", "Wait", "--choice", "Close"]) == 1
    assert capsys.readouterr() == (["Merge", "Wait", "Close"][index] + "\n", "")


def test_options_reach_the_server(asker: AskerServer):
    tap(asker)
    assert main(["ask", "Deploy?", "--expires-in", "1h30m", "--key", "build-7"]) == 0
    assert asker.prompts == [
        {
            "question": "Deploy?",
            "choices": ["Approve", "Deny"],
            "expires_in": 5400,
            "idempotency_key": "build-7",
        }
    ]


def test_a_dash_reads_the_question_from_standard_input(asker: AskerServer, monkeypatch: pytest.MonkeyPatch):
    tap(asker)
    monkeypatch.setattr(sys, "stdin", io.StringIO("Deploy\nthese two?\n"))
    assert main(["ask", "-"]) == 0
    assert asker.prompts[0]["question"] == "Deploy\nthese two?"


def test_json_is_one_object(asker: AskerServer, capsys: Output):
    tap(asker, 1)
    assert main(["ask", "Deploy?", "--json"]) == 1
    assert printed_json(capsys) == {
        "status": "answered",
        "choice": "Deny",
        "choice_index": 1,
        "id": asker.latest["id"],
        "answered_by": {"device_id": "dev_1", "label": "Pixel"},
        "answered_at": asker.latest["answered_at"],
        "receipt_verified": False,
    }


@pytest.mark.parametrize(("status", "code"), [("expired", 3), ("cancelled", 4)])
def test_no_tap_prints_no_label(asker: AskerServer, capsys: Output, status: str, code: int):
    asker.on_poll = lambda _count: asker.end(status=status)
    assert main(["ask", "Deploy?"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("status", "code"), [("expired", 3), ("cancelled", 4)])
def test_no_tap_is_a_status_in_json(asker: AskerServer, capsys: Output, status: str, code: int):
    asker.on_poll = lambda _count: asker.end(status=status)
    assert main(["ask", "Deploy?", "--json"]) == code
    assert printed_json(capsys) == {
        "status": status,
        "choice": None,
        "choice_index": None,
        "id": asker.latest["id"],
        "answered_by": None,
        "answered_at": None,
        "receipt_verified": False,
    }


REFUSALS = [
    (Reply.error(400, "invalid_choices"), 2, "invalid_choices"),
    (Reply.json(401, {"error": "invalid_token"}), 6, "invalid_token"),
    (Reply.error(403, "priority_capped"), 7, "priority_capped"),
    (Reply.error(404, "not_found"), 9, "not_found"),
    (Reply.error(409, "no_phone_device"), 7, "no_phone_device"),
    (Reply.error(413, "payload_too_large"), 2, "payload_too_large"),
    (Reply.error(426, "phone_app_outdated"), 7, "phone_app_outdated"),
    (Reply.error(429, "too_many_pending"), 7, "too_many_pending"),
    (Reply.error(500, "internal_error"), 9, "internal_error"),
    (Reply.error(503, "unavailable"), 9, "unavailable"),
    (Reply(502, b"Bad gateway"), 9, "http_502"),
    (Reply(200, b"Bad idea"), 9, "broken_contract"),
    (Reply(301, b"", {"Location": "https://elsewhere.example"}), 9, "broken_contract"),
]


@pytest.mark.parametrize(
    ("reply", "code", "name"), REFUSALS, ids=[name + str(code) for _, code, name in REFUSALS[:-1]] + ["redirect"]
)
def test_each_refusal_has_its_exit_code(asker: AskerServer, capsys: Output, reply: Reply, code: int, name: str):
    asker.faults["POST"].extend([replying(reply)] * 2)
    assert main(["ask", "Deploy?", "--retry-for", "0"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert main(["ask", "Deploy?", "--retry-for", "0", "--json"]) == code
    assert printed_json(capsys)["error"]["code"] == name


def test_a_server_that_cannot_be_reached_exits_5(asker: AskerServer, capsys: Output):
    asker.stop()
    assert main(["ask", "Deploy?", "--retry-for", "0"]) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Error: cannot reach {asker.url}")
    assert "--key" not in err


def test_a_lost_reply_never_prompts_twice(asker: AskerServer, capsys: Output):
    asker.faults["POST"].append(lost_after_handling)
    tap(asker)
    assert main(["ask", "Deploy?"]) == 0
    assert capsys.readouterr().out == "Approve\n"
    assert len(asker.prompts) == 1


def test_after_a_lost_reply_the_error_names_the_key_that_finds_the_question(asker: AskerServer, capsys: Output):
    asker.faults["POST"].append(lost_after_handling)
    assert main(["ask", "Deploy?", "--retry-for", "0"]) == 5
    key = re.search(r"--key (\S+) finds the question again", capsys.readouterr().err)
    assert key is not None
    tap(asker)
    assert main(["ask", "Deploy?", "--key", key[1]]) == 0
    assert len(asker.prompts) == 1


def test_an_answer_to_another_question_exits_8(asker: AskerServer, capsys: Output):
    tap(asker)
    main(["ask", "Delete staging?", "--key", "build-7"])
    capsys.readouterr()
    assert main(["ask", "Delete production?", "--key", "build-7"]) == 8
    assert capsys.readouterr().out == ""
    assert main(["ask", "Delete production?", "--key", "build-7", "--json"]) == 8
    assert printed_json(capsys)["error"]["code"] == "idempotency_mismatch"


def test_an_answer_that_breaks_the_contract_exits_9(asker: AskerServer, capsys: Output):
    tap(asker)
    asker.faults["GET"].append(rewriting(lambda state: state.update(choice_index=1)))
    assert main(["ask", "Deploy?"]) == 9
    assert capsys.readouterr().out == ""


USAGE_MISTAKES: dict[str, list[str]] = {
    "no question": [],
    "two questions": ["Deploy?", "Now?"],
    "unknown option": ["Deploy?", "--yes"],
    "no length of time": ["Deploy?", "--expires-in", "soon"],
    "token and question from one input": ["-", "--token", "-"],
    "not a URL": ["Deploy?", "--url", "reflecto.example"],
    "half an IPv6 address": ["Deploy?", "--url", "http://[::1"],
    "brackets around a name": ["Deploy?", "--url", "http://[x]/"],
    "a host that another one hides in": ["Deploy?", "--url", "http://ex\u2100mple"],
    "password in the URL": ["Deploy?", "--url", "https://me:sesame@reflecto.example"],
    "not a token": ["Deploy?", "--token", "sesame"],
    "configuration that is not there": ["Deploy?", "--config", "/nonexistent"],
    "empty token, perhaps an unset variable": ["Deploy?", "--token", ""],
    "empty url": ["Deploy?", "--url", " "],
    "empty key": ["Deploy?", "--key", ""],
    "blank question": [" "],
}


@pytest.mark.parametrize("arguments", USAGE_MISTAKES.values(), ids=USAGE_MISTAKES)
def test_bad_usage_exits_2_and_asks_nothing(asker: AskerServer, capsys: Output, monkeypatch, arguments: list[str]):
    if "--config" in arguments:
        monkeypatch.delenv("REFLECTO_URL")
    assert main(["ask", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Error: " in err
    assert "sesame" not in err
    assert asker.prompts == []


def test_the_token_is_never_printed(asker: AskerServer, capsys: Output):
    leak = Reply.json(409, {"error": {"code": "not_known", "message": f"token {TOKEN} has no phone"}})
    asker.faults["POST"].extend([replying(leak)] * 2)
    main(["ask", "Deploy?"])
    main(["ask", "Deploy?", "--json"])
    out, err = capsys.readouterr()
    assert "has no phone" in out
    assert "has no phone" in err
    assert TOKEN not in out + err


def test_a_message_of_the_servers_cannot_drive_the_terminal(asker: AskerServer, capsys: Output):
    attack = "\x1b[2J\x1b[1;1HApprove\n\u202egnihton"
    asker.faults["POST"].append(replying(Reply.json(409, {"error": {"code": "not_known", "message": attack}})))
    assert main(["ask", "Deploy?"]) == 7
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert not {"\x1b", "\u202e"} & set(err)


def test_the_token_can_come_from_standard_input(asker: AskerServer, monkeypatch: pytest.MonkeyPatch):
    tap(asker)
    monkeypatch.delenv("REFLECTO_TOKEN")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert main(["ask", "Deploy?", "--token", "-"]) == 0


def test_server_and_token_can_come_from_the_file_of_login(asker: AskerServer, client_file: Path, monkeypatch):
    tap(asker)
    monkeypatch.delenv("REFLECTO_TOKEN")
    monkeypatch.delenv("REFLECTO_URL")
    client_file.parent.mkdir()
    client_file.write_text(f'url = "{asker.url}"\ntoken = "{TOKEN}"\n')
    client_file.chmod(0o600)
    assert main(["ask", "Deploy?"]) == 0


def test_the_files_token_goes_to_no_other_server(asker: AskerServer, client_file: Path, capsys: Output, monkeypatch):
    monkeypatch.delenv("REFLECTO_TOKEN")
    client_file.parent.mkdir()
    client_file.write_text(f'url = "https://reflecto.example"\ntoken = "{TOKEN}"\n')
    client_file.chmod(0o600)
    assert main(["ask", "Deploy?"]) == 2
    assert "for another server" in capsys.readouterr().err
    assert asker.received == []


def test_a_file_that_others_can_read_is_warned_about(
    asker: AskerServer, client_file: Path, capsys: Output, monkeypatch
):
    tap(asker)
    monkeypatch.delenv("REFLECTO_TOKEN")
    client_file.parent.mkdir()
    client_file.write_text(f'url = "{asker.url}"\ntoken = "{TOKEN}"\n')
    client_file.chmod(0o644)
    assert main(["ask", "Deploy?"]) == 0
    out, err = capsys.readouterr()
    assert out == "Approve\n"
    assert err.startswith("Warning: others can read the token")


def test_plain_http_to_another_machine_is_warned_about_once(asker: AskerServer, capsys: Output):
    assert main(["ask", "Deploy?", "--url", "http://a..b", "--retry-for", "0"]) == 5
    err = capsys.readouterr().err
    assert err.count("Warning: http:// is not encrypted") == 1
    assert asker.received == []


def start(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen([*ASK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_withdraws_the_question(asker: AskerServer, number: int, code: int):
    asker.holds_polls = True
    with start("Deploy?") as process:
        asker.wait_until_polled()
        process.send_signal(number)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (code, "")
    assert err == "Error: interrupted; the question was withdrawn\n"
    assert asker.latest["status"] == "cancelled"


def test_an_answer_that_beats_the_withdrawal_is_never_reported_as_one(asker: AskerServer):
    asker.holds_polls = True

    def answered_first(handle: Callable[[], Reply]) -> Reply:
        asker.answer(0)
        return handle()

    asker.faults["DELETE"].append(answered_first)
    with start("Deploy?") as process:
        asker.wait_until_polled()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (130, "")
    assert "too late to withdraw the question: Approve was tapped, and is ignored" in err


def test_an_interruption_is_an_error_in_json(asker: AskerServer):
    asker.holds_polls = True
    with start("Deploy?", "--json") as process:
        asker.wait_until_polled()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, err) == (130, "")
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert json.loads(out)["error"]["details"] == {"id": asker.latest["id"], "withdrawn": True}


def test_interrupted_before_the_servers_reply_it_finds_the_question_and_withdraws_it(asker: AskerServer):
    def interrupt_then_lose(handle: Callable[[], Reply]) -> Reply:
        handle()
        process.send_signal(signal.SIGINT)
        return lost_before_handling(handle)

    asker.faults["POST"].append(interrupt_then_lose)
    with start("Deploy?") as process:
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (130, "")
    assert "the question was withdrawn" in err
    assert asker.latest["status"] == "cancelled"
    assert len(asker.prompts) == 1


def test_a_question_that_cannot_be_withdrawn_is_said_so(asker: AskerServer):
    asker.holds_polls = True
    asker.faults["DELETE"].append(replying(Reply.error(404, "not_found")))
    with start("Deploy?") as process:
        asker.wait_until_polled()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 143
    assert "could not be withdrawn" in err


def test_a_second_signal_ends_it_at_once(asker: AskerServer):
    asker.holds_polls = True

    def interrupt_again(_handle: Callable[[], Reply]) -> Reply:
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_SECONDS)
        return Reply(0, b"", lost=True)

    asker.faults["DELETE"].append(interrupt_again)
    with start("Deploy?") as process:
        asker.wait_until_polled()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (143, "")
    assert "may still be on the phone" in err


def test_it_goes_on_waiting_through_a_restart(asker: AskerServer):
    asker.holds_polls = True
    with start("Deploy?") as process:
        asker.wait_until_polled()
        asker.stop()
        asker.start()
        asker.wait_until_polled(times=2)
        asker.answer(1)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out, err) == (1, "Deny\n", "")
    assert len(asker.prompts) == 1


def test_on_a_terminal_one_line_shows_the_time_left_and_is_wiped(asker: AskerServer):
    asker.holds_polls = True
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*ASK, "Deploy?"], stdout=subprocess.PIPE, stderr=theirs, text=True, env=os.environ | {"TERM": "xterm"}
    )
    os.close(theirs)
    with process:
        shown = read_until(ours, "left")
        asker.answer()
        out, _ = process.communicate(timeout=WAIT_SECONDS)
    assert out == "Approve\n"
    shown += read_rest(ours)
    assert re.search(r"Waiting for the tap, (10:00|9:5\d) left\. Ctrl-C withdraws the question\.", shown)
    assert "\n" not in shown
    assert re.search(r"\r +\r$", shown)


def read_until(descriptor: int, text: str) -> str:
    """Return what a terminal shows up to and including `text`; the test's own timeout bounds it."""
    shown = ""
    while text not in shown:
        shown += os.read(descriptor, 1024).decode()
    return shown


def read_rest(descriptor: int) -> str:
    """Return what a terminal still holds; its end is an EIO."""
    text = b""
    try:
        while chunk := os.read(descriptor, 1024):
            text += chunk
    except OSError:
        pass
    os.close(descriptor)
    return text.decode()


def test_closing_the_terminal_window_withdraws_the_question(asker: AskerServer):
    asker.holds_polls = True
    ours, theirs = os.openpty()
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen([*ASK, "Deploy?"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        read_until(ours, "left")
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(WAIT_SECONDS) == 129
    assert asker.latest["status"] == "cancelled"


def test_a_reader_that_went_away_is_no_approval_and_no_traceback(asker: AskerServer):
    tap(asker)
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen([*ASK, "Deploy?"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    _, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix shell")
@pytest.mark.parametrize(
    ("closed", "code", "printed"),
    [("<&-", 0, "Approve\n"), ("2>&-", 0, "Approve\n"), (">&-", 141, ""), ("<&- >&- 2>&-", 141, "")],
)
def test_a_stream_that_was_never_there_is_no_fault(asker: AskerServer, closed: str, code: int, printed: str):
    tap(asker)
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *ASK, "Deploy?"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, printed, "")
