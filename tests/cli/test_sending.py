"""`reflecto send`, `file`, `ring`, `remind`, `devices`: what is sent, what is printed where, and the exit codes."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reflecto.cli.exits import Exit
from reflecto.cli.main import main
from tests.client.asker_server import OPENED_AT, TOKEN, Reply, lost_after_handling, replying
from tests.client.sending_server import DEVICE, STATUS, SendingServer, not_from_reflecto

Output = pytest.CaptureFixture[str]
ONE_OF_EACH: list[list[str]] = [
    ["send", "Done"],
    ["ring"],
    ["file", "-", "--name", "a.txt"],
    ["remind", "Stand-up", "--at", str(OPENED_AT + 600)],
]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Standard input is a pipe, and this machine's clock shows Berlin's time."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n"), "utf-8"))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def fields(sending: SendingServer) -> list[dict[str, Any]]:
    return [sent for _, sent in sending.accepted]


def test_all_options_of_send_arrive_and_nothing_is_printed(sending: SendingServer, capsys: Output):
    arguments = ["send", "42 GB", "-t", "Backup", "-p", "high", "--tag", "nas", "--tag", "a,b", "--link", "https://x/"]
    arguments += ["--link-title", "Job", "--action", "Open=https://x/?a=b", "--action", "Log=https://y/"]
    arguments += ["--device", "Pixel,desktop", "--markdown", "--ttl", "1h"]
    assert main(arguments) == 0
    assert capsys.readouterr() == ("", "")
    assert fields(sending) == [
        {
            "message": "42 GB",
            "title": "Backup",
            "priority": "high",
            "tags": ["nas", "a,b"],
            "url": "https://x/",
            "url_title": "Job",
            "actions": [{"label": "Open", "url": "https://x/?a=b"}, {"label": "Log", "url": "https://y/"}],
            "device": "Pixel,desktop",
            "markdown": True,
            "ttl": 3600,
        }
    ]


@pytest.mark.parametrize("arguments", [["send"], ["send", "-"], ["send", "-", "-t", "T"]])
def test_a_message_comes_through_a_pipe_too(sending: SendingServer, arguments: list[str]):
    assert main(arguments) == 0
    assert fields(sending)[0]["message"] == "from a pipe"


def test_the_json_of_each_command_is_what_the_server_said(sending: SendingServer, capsys: Output):
    sending.warnings = [{"code": "tag_too_long", "message": "Tags are cut to 32 bytes"}]
    ends: dict[str, Any] = {"delivered_to": [DEVICE], "warnings": sending.warnings}
    printed = []
    for arguments in ONE_OF_EACH:
        assert main([*arguments, "--json"]) == 0
        captured = capsys.readouterr()
        assert captured.err == "Warning: Tags are cut to 32 bytes\n"
        printed.append(json.loads(captured.out))
    assert printed == [
        {"id": f"msg_{1:032x}", **ends},
        {"id": f"msg_{2:032x}", **ends},
        {"document_id": f"doc_{3:032x}", "byte_length": 12, **ends},
        {"reminder_id": f"rem_{4:032x}", "fire_at": OPENED_AT + 600, "warnings": sending.warnings},
    ]


@pytest.mark.parametrize("arguments", ONE_OF_EACH, ids=lambda arguments: arguments[0])
def test_what_lost_its_reply_is_sent_again_and_arrives_once(sending: SendingServer, arguments: list[str]):
    sending.faults["POST"].append(lost_after_handling)
    assert main(arguments) == 0
    assert len(sending.accepted) == 1


@pytest.mark.parametrize("arguments", ONE_OF_EACH, ids=lambda arguments: arguments[0])
def test_a_command_with_a_key_that_is_run_again_sends_once_and_prints_the_same(
    sending: SendingServer, capsys: Output, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
):
    printed = []
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n"), "utf-8"))
        assert main([*arguments, "--key", "job 7", "--json"]) == 0
        printed.append(capsys.readouterr())
    assert printed[0] == printed[1]
    assert [key for key in sending.kept if key == "job 7"] == ["job 7"]
    assert len(sending.accepted) == 1


@pytest.mark.parametrize("arguments", ONE_OF_EACH, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize(
    ("key", "code", "said"),
    [
        ("größe", 2, "--key must be 1 to 128 characters of ASCII"),
        ("job 7", 8, "used for another request"),
    ],
)
def test_a_key_that_is_none_or_of_something_else_has_an_exit_code_of_its_own(
    sending: SendingServer, capsys: Output, arguments: list[str], key: str, code: int, said: str
):
    refusal = {"code": "idempotency_key_reused", "message": "This Idempotency-Key was used for another request"}
    sending.faults["POST"].append(replying(Reply.json(422, {"error": refusal})))
    assert main([*arguments, "--key", key]) == code
    assert said in capsys.readouterr().err
    assert sending.accepted == []


@pytest.mark.parametrize("arguments", ONE_OF_EACH, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_a_lost_reply_of_a_server_without_keys_exits_10_and_nothing_is_sent_twice(
    sending: SendingServer, capsys: Output, arguments: list[str], as_json: list[str]
):
    sending.knows_keys = False
    sending.faults["POST"].append(lost_after_handling)
    assert main([*arguments, *as_json]) == 10
    captured = capsys.readouterr()
    if as_json:
        assert json.loads(captured.out)["error"]["code"] == "outcome_unknown"
    else:
        assert captured.out == ""
        assert "may have been accepted or not" in captured.err
    assert len(sending.accepted) == 1


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply.error(400, "message_too_long", bytes=1501, max=1500), 2),
        (Reply.json(401, {"error": "invalid_token"}), 6),
        (Reply.error(403, "scope_denied"), 7),
        (Reply.error(409, "no_phone_device"), 7),
        (Reply.error(413, "payload_too_large", size=2049, max=2048), 2),
        (Reply.error(429, "rate_limit_exceeded", {"Retry-After": "90000"}), 7),
        (Reply.error(500, "internal_error"), 10),
        (not_from_reflecto(502), 10),
        (Reply(200, b"<html>"), 9),
    ],
)
def test_each_refusal_has_the_exit_code_of_the_page(sending: SendingServer, capsys: Output, reply: Reply, code: int):
    sending.knows_keys = False  # else what failed behind the request is sent again
    for as_json in ([], ["--json"]):
        sending.faults["POST"].append(replying(reply))
        assert main(["send", "Done", *as_json]) == code
        captured = capsys.readouterr()
        assert bool(captured.out) == bool(as_json)
        assert bool(captured.err) != bool(as_json)
        assert TOKEN not in captured.out + captured.err


def test_without_a_server_it_exits_5(sending: SendingServer, capsys: Output):
    sending.stop()
    assert main(["send", "Done", "--retry-for", "0"]) == 5
    assert "cannot reach" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("warnings", "options", "code"),
    [
        (["no_devices"], [], 7),
        (["unknown_device"], ["--device", "Pixle"], 7),
        (["unknown_device", "unknown_device"], ["--device", "Pixle, Desk"], 7),
        (["unknown_device"], ["--device", "Pixle,Desk"], 0),  # with --ttl 0, or gone since: one of them is known
        (["test_token"], [], 0),
        ([], ["--ttl", "0"], 0),
    ],
)
def test_what_nobody_is_there_to_get_exits_7(
    sending: SendingServer, capsys: Output, warnings: list[str], options: list[str], code: int
):
    sending.reached = []
    sending.warnings = [{"code": each, "message": f"about \x1b {each}"} for each in warnings]
    assert main(["send", "Done", *options]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "".join(f"Warning: about ‹U+001B› {each}\n" for each in warnings)  # noqa: RUF001


def test_one_unknown_name_among_those_reached_is_a_warning_only(sending: SendingServer):
    sending.warnings = [{"code": "unknown_device", "message": "No device is called 'Pixle'"}]
    assert main(["send", "Done", "--device", "Pixle"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["send", "x", "--action", "no url"],
        ["send", "x", "--priority", "emergency"],
        ["send", "x", "--ttl", "soon"],
        ["send", "-", "--token", "-"],
        ["file"],
        ["file", "-"],
        ["file", "-", "--name", "a.txt", "--token", "-"],
        ["remind", "x"],
        ["remind", "x", "--at", "18:30", "--in", "1h"],
        ["remind", "x", "--at", "soon"],
        ["remind", "x", "--list"],
        ["remind", "--list", "--cancel", "rem_" + "0" * 32],
        ["remind", "--list", "--key", "job 7"],
        ["remind", "--cancel", "rem_1"],
        ["remind", "--cancel", "rem_" + "0" * 32],
        ["send", "x", "--token", ""],
    ],
    ids=" ".join,
)
def test_bad_usage_exits_2_and_nothing_is_sent(sending: SendingServer, capsys: Output, arguments: list[str]):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err
    assert sending.accepted == []


def test_a_file_goes_under_its_own_name(sending: SendingServer, tmp_path: Path):
    path = tmp_path / "report.csv"
    path.write_bytes(b"a;b\r\n")
    assert main(["file", str(path), "--title", "Orders", "--device", "phone"]) == 0
    assert fields(sending) == [{"filename": "report.csv", "content": "a;b\r\n", "title": "Orders", "device": "phone"}]


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_what_is_no_text_file_and_what_is_no_file_exit_2(
    sending: SendingServer, capsys: Output, tmp_path: Path, as_json: list[str]
):
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG\r\n")
    assert main(["file", str(picture), *as_json]) == 2
    assert "UTF-8" in "".join(capsys.readouterr())
    assert main(["file", str(tmp_path / "none.txt"), *as_json]) == 2
    said = "".join(capsys.readouterr())
    assert "none.txt: No such file" in said
    assert "Errno" not in said
    assert sending.accepted == []


def test_a_reminder_prints_its_id_which_drops_it(sending: SendingServer, capsys: Output):
    assert main(["remind", "Stand-up", "--in", "10m"]) == 0
    reminder_id, err = capsys.readouterr()
    assert (reminder_id, err) == (f"rem_{1:032x}\n", "")
    assert fields(sending) == [{"message": "Stand-up", "at": OPENED_AT + 600}]
    assert main(["remind", "--cancel", reminder_id.strip()]) == 0
    assert capsys.readouterr() == ("", "")
    assert sending.reminders == {}


def test_reminders_are_listed_in_columns_with_nothing_hidden_or_as_json(sending: SendingServer, capsys: Output):
    main(["remind", "Stand-up", "--at", "2027-01-15T09:10:00+01:00"])
    sending.reminders[f"rem_{1:032x}"] |= {"fire_at": OPENED_AT + 600, "title": "Daily"}
    main(["remind", "two\nlines \u202e", "--at", str(OPENED_AT)])
    capsys.readouterr()
    assert main(["remind", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "TIME              ID                                    TITLE  MESSAGE",
        f"2027-01-15 09:10  rem_{1:032x}  Daily  Stand-up",
        f"2027-01-15 09:00  rem_{2:032x}         two‹U+000A›lines ‹U+202E›",  # noqa: RUF001
    ]
    assert main(["remind", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reminders"][0] == {
        "reminder_id": f"rem_{1:032x}",
        "message": "Stand-up",
        "title": "Daily",
        "fire_at": OPENED_AT + 600,
        "created_at": OPENED_AT,
    }


def test_devices_are_listed_in_columns_or_as_json(sending: SendingServer, capsys: Output):
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "LABEL  TYPE     CLASS  STATE      LAST SEEN         ID",
        f"Pixel  android  phone  connected  2027-01-15 09:00  dev_{'1' * 32}",
    ]
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"devices": [STATUS]}
    assert sending.accepted == []


def test_only_on_a_terminal_is_there_a_word_of_success_and_colours_only_without_no_color(sending: SendingServer):
    def shown(*arguments: str, **environment: str) -> str:
        ours, theirs = os.openpty()
        command = [sys.executable, "-m", "reflecto.cli.main", *arguments]
        env = os.environ | {"TERM": "xterm", "COLUMNS": "200"} | environment
        subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, check=True, timeout=30)
        os.close(theirs)
        text = os.read(ours, 65_536).decode()
        os.close(ours)
        return text

    assert shown("send", "Done") == "Sent to 1 device.\r\n"
    assert "\x1b[1mLABEL" in shown("devices")
    assert "\x1b[1m" not in shown("devices", NO_COLOR="1")
    assert len(sending.accepted) == 1


def test_a_reader_that_went_away_exits_141(sending: SendingServer):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "reflecto.cli.main", "devices"]
    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (Exit.OUTPUT_CLOSED, "")
    assert sending.received


def test_on_a_terminal_a_result_does_not_share_its_line_with_the_trouble_before_it(sending: SendingServer):
    # Long enough for the line to be drawn, once a second.
    sending.faults["GET"].append(replying(Reply(503, b"", {"Retry-After": "2"})))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "reflecto.cli.main", "devices", "--retry-for", "30s"]
    env = os.environ | {"TERM": "xterm"}
    subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, check=True, timeout=30)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in shown.split("\r\n") if line.strip()]
    assert lines[0].removeprefix("\x1b[1m").startswith("LABEL")
    assert lines[1].startswith("Pixel")
