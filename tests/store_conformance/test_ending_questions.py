"""How questions end and how long they stay; `list_pending` and `list_expired`."""

import pytest
from msgspec.structs import replace

from reflecto.core.model import Tap
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import EndResult, Verdict
from tests.builders import NOW, make_delivery, make_interaction, make_tap, make_token
from tests.store_conformance.world import blobs, created, found_owner, join

DAY_SECONDS = 86_400


async def test_the_first_tap_is_recorded_whole_and_the_withdrawals_are_queued(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    new = await created(store, token, phone, tablet)
    tap = make_tap(phone, 1, answered_at=NOW - 5)
    answered = replace(new, status="answered", ended_at=NOW + 10, tap=tap)
    result = await store.record_answer_if_pending(new.id, tap, [make_delivery(tablet, b"withdrawn")], NOW + 10.9)
    assert result == EndResult(Verdict.ACCEPTED, answered)
    assert await store.find_interaction(new.id, NOW + 11) == answered
    assert (await blobs(store, tablet))[-1] == b"withdrawn"
    assert len(await blobs(store, phone)) == 1


async def test_a_simulated_tap_has_no_device(store: Store):
    _, token = await found_owner(store)
    new = make_interaction(token)
    await store.create_interaction_once(new, [], None, NOW)
    tap = Tap(choice_index=0, answered_at=NOW)
    result = await store.record_answer_if_pending(new.id, tap, [], NOW)
    assert result is not None
    assert result.interaction.tap == tap


async def test_a_removed_devices_tap_does_not_count_whatever_became_of_the_question(store: Store):
    phone, token = await found_owner(store)
    stolen = await join(store, phone.owner_id)
    waiting, answered = [await created(store, token, phone, stolen) for _ in range(2)]
    won = make_tap(stolen, 1)
    await store.record_answer_if_pending(answered.id, won, [], NOW)
    await store.remove_device(phone.owner_id, stolen.id)
    for question in (waiting, replace(answered, status="answered", ended_at=NOW, tap=won)):
        result = await store.record_answer_if_pending(question.id, make_tap(stolen, 1), [make_delivery(phone)], NOW)
        assert result == EndResult(Verdict.DEVICE_REMOVED, question)
    assert len(await blobs(store, phone)) == 2


async def test_a_second_tap_loses_and_gets_the_winner(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    new = await created(store, token, phone, tablet)
    won = make_tap(phone, 1)
    await store.record_answer_if_pending(new.id, won, [], NOW)
    result = await store.record_answer_if_pending(new.id, make_tap(tablet, 0), [make_delivery(phone)], NOW + 1)
    assert result == EndResult(Verdict.ALREADY_ANSWERED, replace(new, status="answered", ended_at=NOW, tap=won))
    assert len(await blobs(store, phone)) == 1


async def test_the_winner_may_repeat_its_tap_but_not_change_it(store: Store):
    phone, token = await found_owner(store)
    new = await created(store, token, phone)
    won = make_tap(phone, 1)
    await store.record_answer_if_pending(new.id, won, [], NOW)
    for now in (NOW + 1, NOW + 601):  # also when the question would have expired by then
        repeated = await store.record_answer_if_pending(new.id, make_tap(phone, 1), [make_delivery(phone)], now)
        assert repeated == EndResult(Verdict.REPEATED, replace(new, status="answered", ended_at=NOW, tap=won))
        changed = await store.record_answer_if_pending(new.id, make_tap(phone, 0), [], now)
        assert changed is not None
        assert changed.verdict is Verdict.ALREADY_ANSWERED
    assert len(await blobs(store, phone)) == 1


async def test_a_tap_counts_until_just_before_expiry_and_not_from_then_on(store: Store):
    phone, token = await found_owner(store)
    in_time, late = await created(store, token, phone), await created(store, token, phone)
    accepted = await store.record_answer_if_pending(in_time.id, make_tap(phone), [], NOW + 599.999)
    refused = await store.record_answer_if_pending(late.id, make_tap(phone), [make_delivery(phone)], NOW + 600)
    assert accepted is not None
    assert accepted.verdict is Verdict.ACCEPTED
    assert refused == EndResult(Verdict.CLOSED, late)
    assert len(await blobs(store, phone)) == 2


async def test_a_cancelled_question_takes_no_answer(store: Store):
    phone, token = await found_owner(store)
    new = await created(store, token, phone)
    cancelled = replace(new, status="cancelled", ended_at=NOW + 5, reason="withdrawn")
    withdrawal = make_delivery(phone, b"withdrawn")
    assert await store.cancel_if_pending(new.id, [withdrawal], NOW + 5.5) == EndResult(Verdict.ACCEPTED, cancelled)
    result = await store.record_answer_if_pending(new.id, make_tap(phone), [], NOW + 6)
    assert result == EndResult(Verdict.CLOSED, cancelled)
    assert (await blobs(store, phone))[-1] == b"withdrawn"


async def test_cancelling_again_changes_nothing(store: Store):
    phone, token = await found_owner(store)
    new = await created(store, token, phone)
    await store.cancel_if_pending(new.id, [], NOW + 5)
    again = await store.cancel_if_pending(new.id, [make_delivery(phone)], NOW + 700)
    withdrawn = replace(new, status="cancelled", ended_at=NOW + 5, reason="withdrawn")
    assert again == EndResult(Verdict.REPEATED, withdrawn)
    assert len(await blobs(store, phone)) == 1


async def test_an_answered_or_expired_question_cannot_be_cancelled(store: Store):
    phone, token = await found_owner(store)
    answered, expired = await created(store, token, phone), await created(store, token, phone)
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW)
    for question, verdict, now in (
        (answered, Verdict.ALREADY_ANSWERED, NOW + 1),
        (expired, Verdict.CLOSED, NOW + 600),
    ):
        result = await store.cancel_if_pending(question.id, [make_delivery(phone)], now)
        assert result is not None
        assert result.verdict is verdict
    assert len(await blobs(store, phone)) == 2


async def test_an_unknown_question_has_no_ending(store: Store):
    phone, token = await found_owner(store)
    unknown = make_interaction(token).id
    assert await store.record_answer_if_pending(unknown, make_tap(phone), [make_delivery(phone)], NOW) is None
    assert await store.cancel_if_pending(unknown, [make_delivery(phone)], NOW) is None
    assert await blobs(store, phone) == []


@pytest.mark.parametrize("ending", ["answered", "cancelled", "expired"])
async def test_an_ended_question_can_be_read_for_24_hours_to_the_second(store: Store, ending: str):
    phone, token = await found_owner(store)
    new = await created(store, token, phone)
    ended_at = NOW + 600
    if ending != "expired":
        ended_at = NOW + 30
        if ending == "answered":
            await store.record_answer_if_pending(new.id, make_tap(phone), [], ended_at)
        else:
            await store.cancel_if_pending(new.id, [], ended_at)
    gone_at = ended_at + DAY_SECONDS
    assert await store.find_interaction(new.id, gone_at - 0.001) is not None
    assert await store.find_interaction(new.id, gone_at) is None
    assert await store.record_answer_if_pending(new.id, make_tap(phone), [], gone_at) is None
    assert await store.cancel_if_pending(new.id, [], gone_at) is None


async def test_pending_questions_are_listed_per_token_until_they_end(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    answered, cancelled, waiting = [await created(store, token, phone) for _ in range(3)]
    longer = await created(store, token, phone, expires_at=NOW + 900)
    await created(store, other, phone)
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW)
    await store.cancel_if_pending(cancelled.id, [], NOW)
    assert {each.id for each in await store.list_pending(token.id, NOW + 599.999)} == {waiting.id, longer.id}
    assert await store.list_pending(token.id, NOW + 600) == [longer]
    assert await store.list_pending(token.id, NOW + 900) == []


async def test_expired_questions_are_listed_until_that_is_stored(store: Store):
    phone, token = await found_owner(store)
    answered, cancelled, later, first = [
        await created(store, token, phone, expires_at=NOW + seconds) for seconds in (600, 600, 700, 600)
    ]
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW)
    await store.cancel_if_pending(cancelled.id, [], NOW)
    assert await store.list_expired(NOW + 599.999, 9) == []
    assert await store.list_expired(NOW + 600, 9) == [first]
    assert await store.list_expired(NOW + 900, 9) == [first, later]
    assert await store.list_expired(NOW + 900, 1) == [first]
    assert await store.close_if_expired(first.id, [], NOW + 600) == replace(first, status="expired")
    assert await store.list_expired(NOW + 900, 9) == [later]
    assert await store.list_expired(NOW + 700 + 86_399, 9) == [later]
    assert await store.list_expired(NOW + 700 + 86_400, 9) == []
