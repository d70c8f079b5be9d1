"""DELETE /v1/interactions/{id}: the asker changes its mind."""

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import open_sync


async def test_a_withdrawal_returns_the_cancelled_state(sender: Program, clock: FakeClock):
    question = await sender.ask_id("Merge?", expires_in=300)
    clock.advance(10)
    withdrawn = await sender.cancel(question)
    assert withdrawn.status_code == 200
    assert withdrawn.json() == {
        "id": question,
        "status": "cancelled",
        "question": "Merge?",
        "choices": ["Approve", "Deny"],
        "choice": None,
        "choice_index": None,
        "created_at": NOW,
        "expires_at": NOW + 300,
        "answered_at": None,
        "answered_by": None,
        "receipt": None,
        "reason": "withdrawn",
    }
    assert "retry-after" not in withdrawn.headers


async def test_withdrawing_again_is_the_same_also_after_the_window(sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    first = await sender.cancel(question)
    clock.advance(601)
    again = await sender.cancel(question)
    assert (again.status_code, again.json()) == (200, first.json())


async def test_the_prompt_vanishes_from_every_phone(server: RunningServer, phone: DeviceActor, sender: Program):
    tablet = await enroll(server, owner=phone, label="Tablet")
    async with open_sync(phone, after=2) as first, open_sync(tablet, after=0) as second:
        question = await sender.ask_id()
        await sender.cancel(question)
        for stream in (first, second):
            asked, closed = await stream.envelope(), await stream.envelope()
            assert (asked.type, asked.id) == ("interaction", question)
            assert (closed.type, closed.id, closed.payload) == (
                "interaction.closed",
                question,
                {
                    "status": "cancelled",
                    "choice_index": None,
                    "answered_by": None,
                    "answered_by_id": None,
                    "reason": "withdrawn",
                },
            )


async def test_an_answer_that_won_cannot_be_withdrawn(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    await phone.answer(question, 1)
    refused = await sender.cancel(question)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "already_answered")
    assert refused.json()["error"]["details"] == {"choice": "Deny", "choice_index": 1}
    assert (await sender.read(question)).json()["status"] == "answered"


async def test_an_expired_question_cannot_be_withdrawn(sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    clock.advance(600)
    refused = await sender.cancel(question)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "interaction_closed")
    assert refused.json()["error"]["details"] == {"status": "expired"}


async def test_a_phone_may_not_withdraw(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    refused = await phone.call("DELETE", f"/v1/interactions/{question}")
    assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
