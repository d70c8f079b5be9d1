"""GET /v1/interactions/{id}: every state, who may read it, and for how long."""

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer

NOT_FOUND = {"error": {"code": "not_found", "message": "Not found"}}


async def test_a_pending_question_reads_as_asked_with_nulls_and_says_when_to_come_back(sender: Program):
    question = await sender.ask_id("Merge?", choices=["Merge", "Wait", "Close"], expires_in=300)
    read = await sender.read(question)
    assert read.status_code == 200
    assert read.json() == {
        "id": question,
        "status": "pending",
        "question": "Merge?",
        "choices": ["Merge", "Wait", "Close"],
        "choice": None,
        "choice_index": None,
        "created_at": NOW,
        "expires_at": NOW + 300,
        "answered_at": None,
        "answered_by": None,
        "receipt": None,
    }
    assert int(read.headers["retry-after"]) >= 1


async def test_an_answered_question_tells_choice_time_and_device(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id("Merge?", choices=["Merge", "Wait", "Close"])
    clock.advance(42.9)
    await phone.answer(question, 1, answered_at=NOW - 1000)
    read = await sender.read(question)
    assert read.json() == {
        "id": question,
        "status": "answered",
        "question": "Merge?",
        "choices": ["Merge", "Wait", "Close"],
        "choice": "Wait",
        "choice_index": 1,
        "created_at": NOW,
        "expires_at": NOW + 600,
        "answered_at": NOW + 42,
        "answered_by": {"device_id": phone.id, "label": "Pixel"},
        "receipt": None,
    }
    assert "retry-after" not in read.headers


async def test_an_answer_outlives_the_expiry_of_its_question(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    await phone.answer(question)
    clock.advance(601)
    assert (await sender.read(question)).json()["status"] == "answered"


async def test_the_answering_device_stays_named_after_it_left_or_was_renamed(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    tablet = await enroll(server, label="Tablet")
    question = await sender.ask_id()
    await tablet.answer(question)
    await phone.call("DELETE", f"/v1/devices/{tablet.id}")
    state = (await sender.read(question)).json()
    assert state["answered_by"] == {"device_id": tablet.id, "label": "Tablet"}


async def test_a_question_expires_at_the_exact_instant(sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    clock.advance_to(NOW + 599.999)
    assert (await sender.read(question)).json()["status"] == "pending"
    clock.advance_to(NOW + 600)
    expired = await sender.read(question)
    assert expired.json()["status"] == "expired"
    assert (expired.json()["choice"], expired.json()["answered_at"]) == (None, None)
    assert "retry-after" not in expired.headers


async def test_a_cancelled_question_reads_as_cancelled(sender: Program):
    question = await sender.ask_id()
    await sender.cancel(question)
    read = await sender.read(question)
    assert (read.json()["status"], read.json()["choice"]) == ("cancelled", None)
    assert "retry-after" not in read.headers


async def test_foreign_unknown_and_malformed_ids_get_the_same_404(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    sibling = await phone.new_token("Sibling")
    neighbour = (await enroll(server, await server.invite(new_owner=True))).default_program()
    unknown = f"int_{'0' * 32}"
    malformed = [
        "int_",
        "int_" + "g" * 32,
        question.upper(),
        question + "0",
        question[:-1],
        question.replace("int_", "msg_"),
        "x",
        "%00",
        "..%2F..",
        question + "%0A",
        "%F0%9F%9A%80",
        "%FF",
        "a" * 2000,
    ]
    attempts = [(sibling, question), (neighbour, question), *((sender, each) for each in (unknown, *malformed))]
    for program, interaction_id in attempts:
        path = f"/v1/interactions/{interaction_id}"
        for method, options in (("GET", {}), ("GET", {"params": {"wait": "60"}}), ("DELETE", {})):
            refused = await program.call(method, path, **options)
            assert (refused.status_code, refused.json()) == (404, NOT_FOUND), (method, interaction_id)
            assert refused.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("ending", ["answered", "cancelled", "expired"])
async def test_an_ended_question_is_kept_for_24_hours_to_the_second(
    phone: DeviceActor, sender: Program, clock: FakeClock, ending: str
):
    question = await sender.ask_id()
    clock.advance(100)
    ended_at = NOW + 600
    if ending != "expired":
        ended_at = NOW + 100
        await (phone.answer(question) if ending == "answered" else sender.cancel(question))
    clock.advance_to(ended_at + 86_399.999)
    assert (await sender.read(question)).json()["status"] == ending
    clock.advance_to(ended_at + 86_400)
    for gone in (await sender.read(question), await sender.cancel(question)):
        assert (gone.status_code, gone.json()) == (404, NOT_FOUND)
    assert (await phone.answer(question)).status_code == 404


@pytest.mark.parametrize("wait", ["-1", "61", "1.5", "abc", "", " 5", "+5", "\u0665", "0x10", "99999999999999999999"])
async def test_a_wait_that_is_no_number_from_0_to_60_is_refused(sender: Program, wait: str):
    question = await sender.ask_id()
    refused = await sender.call("GET", f"/v1/interactions/{question}", params={"wait": wait})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_wait")
