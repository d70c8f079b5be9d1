"""Asking the same again: one question, one prompt, whatever became of it."""

from pathlib import Path

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server


async def prompts(server: RunningServer, phone: DeviceActor) -> int:
    """Return how many entries of questions wait for the phone."""
    entries = await server.services.store.read_queue(phone.id, 0, 100, server.clock.now())
    assert entries is not None
    return sum(phone.open(entry.blob).type == "interaction" for entry in entries)


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "pr-482"}])
async def test_a_repeat_gets_200_with_the_first_id_and_no_second_prompt(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock, key: dict[str, str]
):
    first = await sender.ask(**key)
    clock.advance(10)
    again = await sender.ask(**key, expires_in=60)
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotency-mismatch" not in again.headers
    assert await prompts(server, phone) == 1


async def test_the_default_choices_spelled_out_are_the_same_question(sender: Program):
    first = await sender.ask()
    again = await sender.ask(choices=["Approve", "Deny"])
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


@pytest.mark.parametrize(
    "other",
    [
        {"question": "Deploy to staging?"},
        {"choices": ["Deny", "Approve"]},
        {"choices": ["Approve", "Deny", "Later"]},
        {"question": "deploy to production?"},
    ],
)
async def test_without_a_key_other_words_or_another_order_are_another_question(
    sender: Program, other: dict[str, object]
):
    first = await sender.ask()
    second = await sender.call("POST", "/v1/interactions", json={"question": "Deploy to production?"} | other)
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


@pytest.mark.parametrize("other", [{"question": "Delete the database?"}, {"choices": ["Deny", "Approve"]}])
async def test_a_key_that_comes_back_with_another_question_is_flagged(
    server: RunningServer, phone: DeviceActor, sender: Program, other: dict[str, object]
):
    first = await sender.ask(idempotency_key="deploy")
    body = {"question": "Deploy to production?", "idempotency_key": "deploy"} | other
    mismatch = await sender.call("POST", "/v1/interactions", json=body)
    assert (mismatch.status_code, mismatch.json()) == (200, first.json())
    assert mismatch.headers["idempotent-replayed"] == "true"
    assert mismatch.headers["idempotency-mismatch"] == "true"
    assert await prompts(server, phone) == 1


async def test_a_key_is_taken_literally(sender: Program):
    ids = {
        (await sender.ask(idempotency_key=key)).json()["id"]
        for key in ("deploy", "Deploy", " deploy", "deploy ", "d\u00e9", "de\u0301")
    }
    assert len(ids) == 6


async def test_a_key_that_spells_a_question_is_no_repeat_of_it(sender: Program):
    await sender.ask()
    keyed = await sender.ask(
        "Other?", idempotency_key='{"question":"Deploy to production?","choices":["Approve","Deny"]}'
    )
    assert keyed.status_code == 201


async def test_the_same_words_with_and_without_a_key_are_two_questions(sender: Program):
    keyed = await sender.ask(idempotency_key="deploy")
    plain = await sender.ask()
    assert (keyed.status_code, plain.status_code) == (201, 201)
    assert (await sender.ask()).json() == plain.json()
    assert (await sender.ask(idempotency_key="deploy")).json() == keyed.json()


async def test_another_token_of_the_same_owner_asks_its_own_question(phone: DeviceActor, sender: Program):
    other = await phone.new_token()
    first = await sender.ask(idempotency_key="deploy")
    second = await other.ask(idempotency_key="deploy")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "pr-482"}])
@pytest.mark.parametrize("ending", ["answered", "cancelled"])
async def test_a_repeat_after_the_end_returns_the_ended_question_until_the_window_closes(
    phone: DeviceActor, sender: Program, clock: FakeClock, key: dict[str, str], ending: str
):
    first = (await sender.ask(**key)).json()
    ended = await (phone.answer(first["id"]) if ending == "answered" else sender.cancel(first["id"]))
    assert ended.status_code == 200
    clock.advance_to(NOW + 599.999)
    again = await sender.ask(**key)
    assert (again.status_code, again.json()) == (200, first)
    assert (await sender.read(first["id"])).json()["status"] == ending
    clock.advance_to(NOW + 600)
    fresh = await sender.ask(**key)
    assert fresh.status_code == 201
    assert fresh.json()["id"] != first["id"]


async def test_a_repeat_is_found_although_ten_questions_wait(sender: Program):
    first = await sender.ask_id("Question 0?")
    for number in range(1, 10):
        await sender.ask_id(f"Question {number}?")
    assert (await sender.ask("Question 10?")).status_code == 429
    again = await sender.ask("Question 0?")
    assert (again.status_code, again.json()["id"]) == (200, first)


async def test_a_repeat_is_found_although_no_phone_is_left(phone: DeviceActor, sender: Program):
    first = await sender.ask_id()
    await phone.call("DELETE", "/v1/devices/self")
    assert (await sender.ask("Something new?")).json()["error"]["code"] == "no_phone_device"
    again = await sender.ask()
    assert (again.status_code, again.json()["id"]) == (200, first)


async def test_a_repeat_is_found_although_every_phone_is_too_old_now(tmp_path: Path):
    async with run_server(tmp_path, min_phone_build=7) as server:
        phone = await enroll(server, app_build=7)
        sender = phone.default_program()
        first = await sender.ask_id()
        await phone.call("PATCH", "/v1/devices/self", json={"app_build": 6})
        assert (await sender.ask("Something new?")).status_code == 426
        again = await sender.ask()
        assert (again.status_code, again.json()["id"]) == (200, first)


async def test_a_repeat_is_found_after_a_restart_of_the_server(tmp_path: Path):
    async with run_server(tmp_path) as server:
        phone = await enroll(server)
        first = await phone.default_program().ask_id()
        token = phone.default_program().token
    async with run_server(tmp_path) as server:
        again = await Program(server.http, token).ask()
        assert (again.status_code, again.json()["id"]) == (200, first)
