"""`reflecto ask` and the client against `reflecto serve` and `reflecto phone`, each a process of its own."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from reflecto import QuestionCancelled, Reflecto, ReflectoError
from tests.e2e.phones import make_codes
from tests.e2e.server_process import REFLECTO, ServerProcess, environment, run_reflecto
from tests.phone import handset
from tests.phone.programs import Script, script

WAIT_SECONDS = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all that leave it running, each with an owner of its own."""
    with ServerProcess(tmp_path_factory.mktemp("ask") / "data") as process:
        yield process


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "phone" / "state.json"


def enrol(server: ServerProcess, state: Path) -> dict[str, str]:
    """Enrol an owner's first phone, which does not run, and return the environment of the owner's scripts."""
    [code] = make_codes(server.data, 1, new_owner=True)
    held = asyncio.run(handset.enrol(state, server.url, code))
    assert held is not None
    return {"REFLECTO_URL": server.url, "REFLECTO_TOKEN": held.token}


def answering(state: Path, answer: str) -> AbstractContextManager[Script]:
    return script("phone", "--state", state, "--json", "--answer", answer)


def test_a_tap_on_the_phone_is_the_output_and_its_receipt_verifies(server: ServerProcess, state: Path):
    env = enrol(server, state)
    with answering(state, "Wait"):
        asked = run_reflecto("ask", "PR 482: green?", "-c", "Merge", "-c", "Wait", "--json", env=env)
    assert (asked.returncode, asked.stderr) == (1, "")
    answer = json.loads(asked.stdout)
    assert (answer["status"], answer["choice"], answer["choice_index"]) == ("answered", "Wait", 1)
    assert answer["receipt_verified"] is True


def test_the_answer_survives_a_power_cut_of_the_server_while_the_asker_waits(state: Path, tmp_path: Path):
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(tmp_path / "data"))
        env = enrol(server, state)

        def revive(trouble: ReflectoError | None) -> None:
            if trouble and not phones:
                stack.enter_context(ServerProcess(tmp_path / "data", "--port", str(server.port)))
                phones.append(stack.enter_context(answering(state, "first")))

        phones: list[Script] = []
        client = stack.enter_context(Reflecto(env["REFLECTO_URL"], env["REFLECTO_TOKEN"], on_trouble=revive))
        question = client.create("Deploy?")
        server.kill()
        answer = client.wait(question)
    assert len(phones) == 1
    assert (answer.question_id, answer.choice) == (question.id, "Approve")
    assert answer.receipt is not None


def test_ctrl_c_takes_the_prompt_off_the_phone(server: ServerProcess, state: Path):
    env = enrol(server, state)
    with answering(state, "ask") as phone:
        with subprocess.Popen(
            [*REFLECTO, "ask", "Deploy?"],
            env=environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as asked:
            shown = phone.event("question")
            asked.send_signal(signal.SIGINT)
            out, err = asked.communicate(timeout=WAIT_SECONDS)
        assert (asked.returncode, out) == (130, "")
        assert "the question was withdrawn" in err
        ended = phone.event("ended")
        assert (ended["id"], ended["outcome"]) == (shown["id"], "withdrawn")
    with Reflecto(env["REFLECTO_URL"], env["REFLECTO_TOKEN"]) as client, pytest.raises(QuestionCancelled):
        client.wait(shown["id"])


def test_login_against_the_real_server_stores_only_what_it_takes(server: ServerProcess, state: Path, tmp_path: Path):
    env = enrol(server, state)
    file = tmp_path / "client.toml"
    options = ("--url", server.url, "--config", file)
    assert run_reflecto("login", *options, "--token", "rfk_live_" + "b" * 32).returncode == 6
    assert not file.exists()
    assert run_reflecto("login", *options, "--token", env["REFLECTO_TOKEN"]).returncode == 0
    with answering(state, "first"):
        asked = run_reflecto("ask", "Deploy?", "--config", file)
    assert (asked.returncode, asked.stdout) == (0, "Approve\n")


def test_a_token_that_the_server_does_not_know_exits_6(server: ServerProcess, state: Path):
    env = enrol(server, state)
    asked = run_reflecto("ask", "Deploy?", env=env | {"REFLECTO_TOKEN": "rfk_live_" + "b" * 32})
    assert (asked.returncode, asked.stdout) == (6, "")
