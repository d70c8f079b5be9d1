"""Tethered questions: `hold_tether`, `release_tether`, `close_if_abandoned`, `list_abandoned`, `spare_tethered`."""

from typing import Any

import pytest
from msgspec.structs import replace

from reflecto.core.model import Device, Interaction, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, EndResult, Verdict
from tests.builders import NOW, make_delivery, make_interaction, make_tap
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, create, created, found_owner

LAST_INSTANT = NOW + 19.999
END = NOW + 20


async def tethered(store: Store, token: Token, *phones: Device, **fields: Any) -> Interaction:
    """Create a question that ends 20 seconds after the last wait, and return it."""
    return await created(store, token, *phones, **({"tether": 20, "awaited_until": float(NOW)} | fields))


async def test_nobody_waits_and_so_it_ends_at_that_instant(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    assert await store.list_abandoned(LAST_INSTANT) == []
    assert await store.close_if_abandoned(question.id, [make_delivery(phone)], LAST_INSTANT) is None
    assert await store.find_interaction(question.id, LAST_INSTANT) == question
    assert await store.list_abandoned(END) == [question]
    ended = replace(question, status="cancelled", ended_at=END, reason="abandoned")
    assert await store.close_if_abandoned(question.id, [make_delivery(phone, b"closed")], END + 7) == ended
    assert await store.find_interaction(question.id, END + 7) == ended
    assert await store.list_abandoned(END + 7) == []
    assert (await blobs(store, phone))[1:] == [b"closed"]
    assert await store.close_if_abandoned(question.id, [make_delivery(phone)], END + 8) is None
    assert len(await blobs(store, phone)) == 2


async def test_before_its_end_is_stored_it_takes_no_tap_and_no_place(store: Store):
    phone, token = await found_owner(store)
    questions = [await tethered(store, token, phone) for _ in range(10)]
    full = await create(store, make_interaction(token), phone, now=LAST_INSTANT)
    assert full.creation is Creation.TOO_MANY_PENDING
    late = await store.record_answer_if_pending(questions[0].id, make_tap(phone), [make_delivery(phone)], END)
    assert late == EndResult(Verdict.CLOSED, questions[0])
    assert await store.cancel_if_pending(questions[0].id, [], END) == EndResult(Verdict.REPEATED, questions[0])
    assert await store.list_pending(token.id, END) == []
    assert len(await store.list_pending(token.id, LAST_INSTANT)) == 10
    assert (await create(store, make_interaction(token), phone, now=END)).creation is Creation.CREATED


async def test_a_tap_just_before_its_end_counts_and_the_end_is_no_more(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    tapped = await store.record_answer_if_pending(question.id, make_tap(phone), [], LAST_INSTANT)
    assert tapped is not None
    assert tapped.verdict is Verdict.ACCEPTED
    assert await store.close_if_abandoned(question.id, [make_delivery(phone)], END) is None
    assert await store.list_abandoned(END) == []


async def test_a_wait_moves_the_end_and_never_back(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    held = replace(question, awaited_until=NOW + 60.5)
    assert await store.hold_tether(question.id, NOW + 60.5, NOW + 10) == held
    assert await store.hold_tether(question.id, NOW + 15, NOW + 15) == held
    assert await store.find_interaction(question.id, NOW + 80) == held
    assert await store.list_abandoned(NOW + 80.4) == []
    assert await store.list_abandoned(NOW + 80.5) == [held]


async def test_what_has_ended_is_not_held(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    assert await store.hold_tether(question.id, END + 50, END) == question
    assert await store.list_abandoned(END) == [question]
    answered = await tethered(store, token, phone)
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW)
    after = await store.find_interaction(answered.id, NOW)
    assert await store.hold_tether(answered.id, NOW + 50, NOW + 1) == after


async def test_without_a_tether_nothing_is_noted(store: Store):
    phone, token = await found_owner(store)
    question = await created(store, token, phone)
    assert await store.hold_tether(question.id, NOW + 50, NOW) == question
    assert await store.hold_tether(make_interaction(token).id, NOW + 50, NOW) is None
    await store.release_tether(question.id, NOW + 50, NOW)
    await store.spare_tethered(NOW + 5)
    assert await store.find_interaction(question.id, NOW + 599) == question
    assert await store.list_abandoned(NOW + 599) == []


async def test_a_wait_that_breaks_off_takes_back_only_what_it_noted_itself(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    await store.hold_tether(question.id, NOW + 50, NOW)
    await store.hold_tether(question.id, NOW + 55, NOW + 5)
    await store.release_tether(question.id, NOW + 50, NOW + 6)
    assert await store.find_interaction(question.id, NOW + 6) == replace(question, awaited_until=NOW + 55)
    await store.release_tether(question.id, NOW + 55, NOW + 7.5)
    assert await store.find_interaction(question.id, NOW + 8) == replace(question, awaited_until=NOW + 7.5)
    assert await store.list_abandoned(NOW + 27.5) != []


async def test_expiry_comes_first_where_it_is_earlier(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone, expires_at=NOW + 20)
    assert await store.list_abandoned(NOW + 30) == []
    assert await store.close_if_abandoned(question.id, [make_delivery(phone)], NOW + 30) is None
    assert await store.find_interaction(question.id, NOW + 30) == question


async def test_an_abandoned_question_stays_readable_for_24_hours_after_its_end(store: Store):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    assert await store.find_interaction(question.id, END + 86_399.9) == question
    assert await store.find_interaction(question.id, END + 86_400) is None


async def test_after_a_time_without_a_server_everybody_has_the_whole_tether_again(open_again: OpenHandle):
    store = await open_again()
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    ahead = await tethered(store, token, phone, awaited_until=float(NOW + 50))
    closed = await tethered(store, token, phone, awaited_until=float(NOW - 20))
    await store.close_if_abandoned(closed.id, [], NOW)
    await store.close()
    reopened = await open_again()
    await reopened.spare_tethered(NOW + 40)
    assert await reopened.find_interaction(question.id, NOW + 40) == replace(question, awaited_until=NOW + 40)
    assert await reopened.find_interaction(ahead.id, NOW + 40) == replace(ahead, awaited_until=NOW + 40)
    assert await reopened.list_abandoned(NOW + 59.9) == []
    found = await reopened.find_interaction(closed.id, NOW + 40)
    assert found is not None
    assert found.reason == "abandoned"


@pytest.mark.parametrize("reason", ["withdrawn", "revoked"])
async def test_the_reason_of_a_withdrawal_is_kept(store: Store, reason: Any):
    phone, token = await found_owner(store)
    question = await tethered(store, token, phone)
    result = await store.cancel_if_pending(question.id, [], NOW + 1, reason)
    cancelled = replace(question, status="cancelled", ended_at=NOW + 1, reason=reason)
    assert result == EndResult(Verdict.ACCEPTED, cancelled)
    assert await store.find_interaction(question.id, NOW + 2) == cancelled
