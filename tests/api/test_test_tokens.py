"""Test tokens: everything is checked and answered, nothing reaches a device."""

import pytest

from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer


@pytest.fixture
async def tester(phone: DeviceActor) -> Program:
    """A program with a test token."""
    return await phone.new_token("Integration", test=True)


async def test_a_test_token_is_recognised_by_its_form(tester: Program):
    assert tester.token.startswith("rfk_test_")


async def test_its_question_reaches_no_phone_and_stays_pending_until_simulated(
    server: RunningServer, phone: DeviceActor, tester: Program
):
    question = await tester.ask_id(choices=["Merge", "Wait", "Close"])
    entries = await server.services.store.read_queue(phone.id, 1, 10, NOW)
    assert entries == []
    assert (await tester.read(question)).json()["status"] == "pending"
    simulated = await tester.simulate(question, "Wait")
    assert simulated.status_code == 200
    assert simulated.json() == (await tester.read(question)).json()
    assert simulated.json() | {"id": question} == {
        "id": question,
        "status": "answered",
        "question": "Deploy to production?",
        "choices": ["Merge", "Wait", "Close"],
        "choice": "Wait",
        "choice_index": 1,
        "created_at": NOW,
        "expires_at": NOW + 600,
        "answered_at": NOW,
        "answered_by": None,
        "receipt": None,
    }
    assert await server.services.store.read_queue(phone.id, 1, 10, NOW) == []


async def test_its_question_needs_no_phone(phone: DeviceActor, tester: Program):
    await phone.call("DELETE", "/v1/devices/self")
    assert (await tester.ask()).status_code == 201


async def test_its_questions_expire_and_are_withdrawn_like_others(tester: Program, clock: FakeClock):
    withdrawn, expired = await tester.ask_id("One?"), await tester.ask_id("Two?")
    assert (await tester.cancel(withdrawn)).json()["status"] == "cancelled"
    clock.advance(600)
    assert (await tester.read(expired)).json()["status"] == "expired"
    for question, status in ((withdrawn, "cancelled"), (expired, "expired")):
        refused = await tester.simulate(question)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "interaction_closed")
        assert refused.json()["error"]["details"] == {"status": status}


async def test_its_questions_have_ten_places_of_their_own(sender: Program, tester: Program):
    for number in range(10):
        await sender.ask_id(f"Question {number}?")
        await tester.ask_id(f"Question {number}?")
    for program in (sender, tester):
        refused = await program.ask("One more?")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_pending")


async def test_its_repeats_are_repeats(tester: Program):
    first = await tester.ask(idempotency_key="k")
    again = await tester.ask("Another?", idempotency_key="k")
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["idempotency-mismatch"] == "true"


async def test_its_cap_and_scopes_hold(phone: DeviceActor):
    capped = await phone.new_token(test=True, priority_cap="low")
    assert (await capped.send(priority="default")).json()["error"]["code"] == "priority_capped"
    narrow = await phone.new_token(test=True, scopes=["send"])
    assert (await narrow.ask()).json()["error"]["code"] == "scope_denied"


async def test_simulating_twice_is_answered_as_taps_are(tester: Program):
    question = await tester.ask_id()
    first = await tester.simulate(question, "Approve")
    assert (await tester.simulate(question, "Approve")).json() == first.json()
    changed = await tester.simulate(question, "Deny")
    assert (changed.status_code, changed.json()["error"]["code"]) == (409, "already_answered")
    assert changed.json()["error"]["details"] == {"choice_index": 0, "answered_at": NOW, "answered_by": None}


@pytest.mark.parametrize("choice", ["approve", "Approve ", "", "Later", 0, None, ["Approve"]])
async def test_only_the_exact_label_is_a_choice(tester: Program, choice: object):
    question = await tester.ask_id()
    refused = await tester.call("POST", f"/v1/interactions/{question}/simulate", json={"choice": choice})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_choice")
    assert (await tester.read(question)).json()["status"] == "pending"


async def test_a_live_token_may_not_simulate(sender: Program):
    question = await sender.ask_id()
    refused = await sender.simulate(question)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    assert (await sender.read(question)).json()["status"] == "pending"


async def test_another_test_token_finds_nothing_to_simulate(phone: DeviceActor, tester: Program):
    question = await tester.ask_id()
    other = await phone.new_token(test=True)
    assert (await other.simulate(question)).status_code == 404
