"""The GitHub Action against `reflecto serve`, with a phone that answers."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.action.conftest import StepOf
from tests.e2e.phones import Phone, read
from tests.e2e.server_process import ServerProcess


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "data") as process:
        yield process


@pytest.fixture
def phone(server: ServerProcess) -> Phone:
    return Phone.enrol(server.url, server.ready["code"])


def next_question(phone: Phone) -> dict[str, Any]:
    """Wait until a question comes to the phone, and return its envelope."""
    for _, envelope in phone.entries():
        if envelope["type"] == "interaction":
            return envelope
    raise AssertionError("the stream ended")


def test_a_tap_on_the_phone_decides(server: ServerProcess, phone: Phone, step: StepOf):
    asking = step(url=f"{server.url}/", token=f"{phone.token}\n", question="Deploy ünïcode?", choices="Go\nStop")
    with asking.start() as process:
        question = next_question(phone)
        assert question["payload"]["question"] == "Deploy ünïcode?"
        phone.answer(question["id"], 1)
        assert asking.end(process)[0] == 1
    assert asking.outputs == {"choice": "Stop", "index": "1", "status": "answered", "id": question["id"]}


def test_a_cancelled_job_takes_the_prompt_off_the_phone(server: ServerProcess, phone: Phone, step: StepOf):
    asking = step(url=server.url, token=phone.token, question="Deploy?")
    with asking.start() as process:
        question = next_question(phone)
        process.send_signal(signal.SIGTERM)
        assert asking.end(process)[0] == 143
    phone.read_until("interaction.closed", question["id"])
    assert read(server.url, phone.token, question["id"]).json()["status"] == "cancelled"


def test_the_answer_survives_a_power_cut_of_the_server(
    server: ServerProcess, phone: Phone, step: StepOf, tmp_path: Path
):
    asking = step(url=server.url, token=phone.token, question="Deploy?")
    with asking.start() as process, ExitStack() as stack:
        question = next_question(phone)
        server.kill()
        stack.enter_context(ServerProcess(tmp_path / "data", "--port", str(server.port)))
        phone.answer(question["id"], 0)
        assert asking.end(process)[0] == 0


def test_a_message_reaches_the_phone(server: ServerProcess, phone: Phone, step: StepOf):
    sending = step(url=server.url, token=phone.token, mode="send", message="Build 7 is green", title="CI")
    assert sending.run()[0] == 0
    (*_, (_, envelope)) = phone.read_until("notification", sending.outputs["id"])
    assert envelope["payload"]["message"] == "Build 7 is green"
    assert envelope["payload"]["url"] == "https://github.example/ada/shop/actions/runs/7001"
