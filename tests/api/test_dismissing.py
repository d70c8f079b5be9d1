"""POST /v1/interactions/{id}/dismiss and /v1/tokens/{id}/dismiss: a phone refuses to answer."""

import asyncio
from typing import Any

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain


async def dismiss(device: DeviceActor, question: str, **fields: object) -> tuple[int, dict[str, Any]]:
    reply = await device.call("POST", f"/v1/interactions/{question}/dismiss", json=fields)
    return reply.status_code, reply.json()


@pytest.mark.parametrize("reason", ["dismissed", "wrong_number"])
async def test_the_asker_sees_cancelled_with_the_reason_and_no_choice(phone: DeviceActor, sender: Program, reason: str):
    question = await sender.ask_id()
    for _ in range(2):  # it may be repeated
        ended = await dismiss(phone, question, reason=reason)
        assert ended == (200, {"id": question, "status": "cancelled", "reason": reason})
    state = (await sender.read(question)).json()
    assert (state["status"], state["reason"], state["choice"]) == ("cancelled", reason, None)


async def test_a_waiting_asker_hears_of_it_at_once(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    waiting = asyncio.create_task(sender.read(question, wait=50))
    await dismiss(phone, question)
    assert (await waiting).json()["reason"] == "dismissed"


async def test_the_other_phones_learn_that_it_was_refused(server: RunningServer, phone: DeviceActor, sender: Program):
    tablet = await enroll(server, owner=phone, label="Tablet")
    question = await sender.ask_id()
    await dismiss(phone, question)
    (closed,) = await drain(tablet, 1)
    assert (closed.type, closed.id) == ("interaction.closed", question)
    assert (closed.payload["status"], closed.payload["reason"]) == ("cancelled", "dismissed")


async def test_the_first_of_answer_and_refusal_wins(phone: DeviceActor, sender: Program):
    refused, answered = await sender.ask_id("First?"), await sender.ask_id("Second?")
    await dismiss(phone, refused)
    late = await phone.answer(refused)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "interaction_closed")
    await phone.answer(answered)
    status, body = await dismiss(phone, answered)
    assert (status, body["error"]["code"]) == (409, "already_answered")
    assert (await sender.read(answered)).json()["status"] == "answered"


async def test_a_question_that_has_expired_cannot_be_refused(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(expires_in=60)
    clock.advance(60)
    status, body = await dismiss(phone, question)
    assert (status, body["error"]["details"]) == (409, {"status": "expired"})


async def test_only_a_phone_of_the_owner_refuses(server: RunningServer, phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    desktop = await enroll(server, owner=phone, type="extension", class_="desktop")
    assert (await dismiss(desktop, question))[0] == 403
    assert (await desktop.call("POST", f"/v1/tokens/{sender.id}/dismiss")).status_code == 403
    assert (await dismiss(phone, "int_" + "0" * 32))[0] == 404
    assert (await phone.call("POST", f"/v1/tokens/tok_{'0' * 32}/dismiss")).status_code == 404
    assert (await sender.read(question)).json()["status"] == "pending"


async def test_another_reason_is_refused(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    status, body = await dismiss(phone, question, reason="withdrawn")
    assert (status, body["error"]["code"]) == (400, "invalid_reason")


async def test_all_of_a_sender_s_open_questions_are_refused_at_once_and_nobody_else_s(
    phone: DeviceActor, sender: Program
):
    other = await phone.new_token()
    theirs = await other.ask_id()
    answered = await sender.ask_id("Answered?")
    await phone.answer(answered)
    mine = {await sender.ask_id(f"Question {number}?") for number in range(3)}
    reply = await phone.call("POST", f"/v1/tokens/{sender.id}/dismiss")
    assert reply.status_code == 200
    assert set(reply.json()["dismissed"]) == mine
    assert [(await sender.read(each)).json()["reason"] for each in mine] == ["dismissed"] * 3
    assert (await sender.read(answered)).json()["status"] == "answered"
    assert (await other.read(theirs)).json()["status"] == "pending"
    again = await phone.call("POST", f"/v1/tokens/{sender.id}/dismiss")
    assert again.json() == {"dismissed": []}
