"""A question that nobody answered is found on the phone afterwards: its prompt and, behind it, that it expired."""

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain, open_sync

HOURS_72 = 259_200


async def test_a_phone_that_was_away_for_hours_finds_prompts_and_their_ends_in_order(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    first = await sender.ask_id("One?", expires_in=60)
    second = await sender.ask_id("Two?", expires_in=600)
    clock.advance(60)
    await server.services.interactions.settle_expired()
    clock.advance(7 * 3_600)
    await server.services.interactions.settle_expired()
    found = await drain(phone, 4, after=1)
    assert [(each.type, each.id) for each in found] == [
        ("interaction", first),
        ("interaction", second),
        ("interaction.closed", first),
        ("interaction.closed", second),
    ]
    assert found[0].payload["question"] == "One?"
    assert {name: value for name, value in found[2].payload.items() if value is not None} == {"status": "expired"}
    assert [(await sender.read(each)).json()["status"] for each in (first, second)] == ["expired", "expired"]


async def test_both_stay_for_72_hours_from_asking(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    await sender.ask_id(expires_in=600)
    clock.advance(600)
    await server.services.interactions.settle_expired()
    async with open_sync(phone, after=1) as stream:
        assert [each.data["expires_at"] for each in await stream.events(2)] == [NOW + HOURS_72] * 2
    clock.advance_to(NOW + HOURS_72)
    assert (await phone.call("GET", "/v1/sync/entries")).json() == {"entries": []}


async def test_an_answered_and_a_withdrawn_prompt_leave_and_their_ends_stay_for_72_hours(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    tablet = await enroll(server, owner=phone, label="Tablet")
    answered, withdrawn, refused = [await sender.ask_id(each) for each in ("One?", "Two?", "Three?")]
    clock.advance(30)
    await phone.answer(answered)
    await sender.cancel(withdrawn)
    await phone.call("POST", f"/v1/interactions/{refused}/dismiss", json={})
    async with open_sync(tablet) as stream:
        events = await stream.events(3)
    assert {each.data["expires_at"] for each in events} == {NOW + 30 + HOURS_72}
    assert [(each.type, each.id) for each in await drain(tablet, 3)] == [
        ("interaction.closed", each) for each in (answered, withdrawn, refused)
    ]


async def test_a_phone_that_is_there_hears_of_the_end_once(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id(expires_in=60)
    clock.advance(60)
    async with open_sync(phone, after=2) as stream:
        for _ in range(2):
            await server.services.interactions.settle_expired()
        closed = await stream.envelope()
        assert (closed.type, closed.id, closed.payload["status"]) == ("interaction.closed", question, "expired")
        await sender.send("Next")
        assert (await stream.envelope()).payload["message"] == "Next"


async def test_a_test_question_that_expired_reaches_no_phone(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    program = await phone.new_token(test=True)
    await phone.ack(1)
    question = await program.ask_id(expires_in=60)
    clock.advance(60)
    await server.services.interactions.settle_expired()
    assert (await program.read(question)).json()["status"] == "expired"
    assert (await phone.call("GET", "/v1/sync/entries")).json() == {"entries": []}


async def test_more_than_are_stored_at_once_are_all_stored(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("reflecto.core.interactions.EXPIRED_AT_ONCE", 2)
    asked = [await sender.ask_id(f"Number {number}?", expires_in=60) for number in range(5)]
    clock.advance(60)
    await server.services.interactions.settle_expired()
    found = await drain(phone, 10, after=1)
    assert {each.id for each in found[5:]} == set(asked)
