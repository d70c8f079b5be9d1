"""`count_wrong_number`, and what a question of answer version 2 and its answer are kept as."""

from typing import Any

from msgspec.structs import replace

from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, EndResult, Verdict
from tests.builders import NOW, make_delivery, make_interaction, make_tap
from tests.store_conformance.world import blobs, created, found_owner, join

V2: dict[str, Any] = {"answer_version": 2, "asks_number": True, "comment_key": bytes(32)}


async def test_a_question_and_its_answer_keep_what_version_2_adds(store: Store):
    phone, token = await found_owner(store)
    new = await created(store, token, phone, **V2)
    assert await store.find_interaction(new.id, NOW) == new
    tap = make_tap(phone, number="07", comment=b"sealed", comment_sha256="ab" * 32)
    await store.record_answer_if_pending(new.id, tap, [], NOW)
    assert await store.find_interaction(new.id, NOW) == replace(new, status="answered", ended_at=NOW, tap=tap)


async def test_the_first_wrong_number_leaves_the_question_open_and_tells_nobody(store: Store):
    phone, token = await found_owner(store)
    new = await created(store, token, phone, **V2)
    wrong = make_tap(phone)
    counted = replace(new, wrong_signature=wrong.signature)
    for verdict in (Verdict.ACCEPTED, Verdict.REPEATED):  # the same tap again, its reply having been lost
        result = await store.count_wrong_number(new.id, wrong, [make_delivery(phone)], NOW)
        assert result == EndResult(verdict, counted)
        assert await store.find_interaction(new.id, NOW) == counted
    assert len(await blobs(store, phone)) == 1
    right = make_tap(phone)
    answered = await store.record_answer_if_pending(new.id, right, [], NOW)
    assert answered == EndResult(Verdict.ACCEPTED, replace(counted, status="answered", ended_at=NOW, tap=right))


async def test_the_second_ends_it_from_whichever_phone_and_the_withdrawals_are_queued(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    new = await created(store, token, phone, tablet, **V2)
    first = make_tap(phone)
    await store.count_wrong_number(new.id, first, [], NOW)
    closings = [make_delivery(each, b"withdrawn") for each in (phone, tablet)]
    result = await store.count_wrong_number(new.id, make_tap(tablet), closings, NOW + 5.5)
    ended = replace(new, wrong_signature=first.signature, status="cancelled", ended_at=NOW + 5, reason="wrong_number")
    assert result == EndResult(Verdict.ACCEPTED, ended)
    assert await store.find_interaction(new.id, NOW + 6) == ended
    for device in (phone, tablet):
        assert (await blobs(store, device))[-1] == b"withdrawn"
    assert await store.count_wrong_number(new.id, make_tap(phone), closings, NOW + 6) == EndResult(
        Verdict.CLOSED, ended
    )
    late = await store.record_answer_if_pending(new.id, make_tap(phone), closings, NOW + 6)
    assert late == EndResult(Verdict.CLOSED, ended)
    assert len(await blobs(store, phone)) == 2


async def test_what_has_ended_or_is_not_there_counts_none(store: Store):
    phone, token = await found_owner(store)
    answered, expired = [await created(store, token, phone, **V2) for _ in range(2)]
    won = make_tap(phone)
    await store.record_answer_if_pending(answered.id, won, [], NOW)
    after = replace(answered, status="answered", ended_at=NOW, tap=won)
    wrong, closing = make_tap(phone), [make_delivery(phone)]
    assert await store.count_wrong_number(answered.id, wrong, closing, NOW) == EndResult(
        Verdict.ALREADY_ANSWERED, after
    )
    assert await store.count_wrong_number(expired.id, wrong, closing, NOW + 600) == EndResult(Verdict.CLOSED, expired)
    assert await store.count_wrong_number(make_interaction(token).id, wrong, closing, NOW) is None
    assert len(await blobs(store, phone)) == 2


async def test_a_removed_phone_counts_none(store: Store):
    phone, token = await found_owner(store)
    stolen = await join(store, phone.owner_id)
    new = await created(store, token, phone, stolen, **V2)
    await store.remove_device(phone.owner_id, stolen.id)
    result = await store.count_wrong_number(new.id, make_tap(stolen), [], NOW)
    assert result == EndResult(Verdict.DEVICE_REMOVED, new)


async def test_notes_go_beside_the_prompts_and_no_matter_whether_they_fit(store: Store):
    phone, token = await found_owner(store)
    old = await join(store, phone.owner_id)
    new, both = make_interaction(token, **V2), frozenset({phone.id, old.id})
    notes = [make_delivery(old, b"note"), make_delivery(replace(old, id="dev_gone"), b"note")]
    created = await store.create_interaction_once(new, [make_delivery(phone, b"prompt")], both, NOW, notes)
    assert created.creation is Creation.CREATED
    assert (await blobs(store, phone), await blobs(store, old)) == ([b"prompt"], [b"note"])
    again = make_interaction(token, repeat_mark=new.repeat_mark)
    repeated = await store.create_interaction_once(again, [make_delivery(phone)], both, NOW, notes)
    assert repeated.creation is Creation.REPEATED
    gone = [make_delivery(replace(phone, id="dev_gone"))]
    refused = await store.create_interaction_once(make_interaction(token), gone, both, NOW, notes)
    assert refused.creation is Creation.QUEUES_FULL
    assert (len(await blobs(store, phone)), len(await blobs(store, old))) == (1, 1)
