"""The sending commands against a real server: what a phone decrypts is what was given."""

import json
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from reflecto.cli.main import main
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("sending") / "data") as process:
        yield process


@pytest.fixture
def phone(server: ServerProcess) -> Phone:
    return Phone.of_new_owner(server, "Pixel")


@pytest.fixture(autouse=True)
def settings(server: ServerProcess, phone: Phone, client_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not client_file.exists()
    monkeypatch.setenv("REFLECTO_URL", server.url)
    monkeypatch.setenv("REFLECTO_TOKEN", phone.token)


def run(capsys: Output, *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def payload(phone: Phone, kind: str, envelope_id: str) -> Any:
    return phone.read_until(kind, envelope_id)[-1][1]["payload"]


def test_a_notification_arrives_with_everything_it_was_given(phone: Phone, capsys: Output):
    arguments = [
        "send",
        "42 GB \U0001f600",
        "-t",
        "Backup",
        "-p",
        "urgent",
        "--tag",
        "nas",
        "--link",
        "https://x.example/",
    ]
    arguments += ["--link-title", "Job", "--action", "Open=https://y.example/?a=b", "--markdown", "-d", "pixel"]
    sent = run(capsys, *arguments)
    assert sent["delivered_to"] == [{"device_id": phone.device_id, "type": "cli"}]
    assert payload(phone, "notification", sent["id"]) == {
        "message": "42 GB \U0001f600",
        "title": "Backup",
        "priority": "urgent",
        "tags": ["nas"],
        "url": "https://x.example/",
        "url_title": "Job",
        "actions": [{"label": "Open", "url": "https://y.example/?a=b"}],
        "markdown": True,
    }


def test_a_file_a_ring_and_a_piped_message_arrive(phone: Phone, capsys: Output, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO("day;é\r\n".encode()), "utf-8"))
    sent = run(capsys, "file", "-", "--name", "report.csv", "--title", "Orders")
    assert sent["byte_length"] == 8
    assert payload(phone, "document", sent["document_id"]) == {
        "filename": "report.csv",
        "content": "day;é\r\n",
        "title": "Orders",
    }
    rung = run(capsys, "ring", "--duration", "5s", "-m", "Here")
    ring = payload(phone, "ring", rung["id"])
    assert (ring["duration"], ring["message"]) == (5, "Here")
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"piped\n"), "utf-8"))
    assert payload(phone, "notification", run(capsys, "send")["id"]) == {"message": "piped"}


def test_reminders_are_set_in_the_nearest_minute_listed_and_dropped(capsys: Output):
    soon = run(capsys, "remind", "Stand-up", "--in", "1m", "--title", "Daily")
    later = run(capsys, "remind", "Later", "--at", str(soon["fire_at"] + 3600))
    listed = run(capsys, "remind", "--list")["reminders"]
    assert [(each["reminder_id"], each["message"]) for each in listed] == [
        (soon["reminder_id"], "Stand-up"),
        (later["reminder_id"], "Later"),
    ]
    for made in (soon, later):
        run(capsys, "remind", "--cancel", made["reminder_id"])
    assert run(capsys, "remind", "--list") == {"reminders": []}
    assert main(["remind", "Never", "--in", "59s"]) == 2
    assert "--in must be 1m to 365d" in capsys.readouterr().err


def test_devices_show_the_phone(phone: Phone, capsys: Output):
    [device] = run(capsys, "devices")["devices"]
    assert (device["device_id"], device["label"], device["class"]) == (phone.device_id, "Pixel", "phone")


def test_a_name_that_nobody_has_and_a_link_that_is_none(capsys: Output):
    assert main(["send", "x", "--device", "Pixle"]) == 7
    assert capsys.readouterr() == ("", "Warning: No device is called 'Pixle'\n")
    assert main(["send", "x", "--link", "ftp://x.example/"]) == 2
    assert "--link must be an http or https URL" in capsys.readouterr().err


def test_what_is_too_long_is_told_how_long_it_is(capsys: Output):
    assert main(["send", "é" * 751]) == 2
    assert capsys.readouterr().err == "Error: MESSAGE must be ≤ 1500 bytes; it has 1502\n"
