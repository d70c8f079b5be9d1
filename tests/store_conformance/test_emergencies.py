"""Emergencies: kept with what their devices get, sounded once a round, ended once, called back."""

import asyncio

import pytest
from msgspec.structs import replace

from reflecto.core.model import Delivery, Device, EmergencyEnd
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Addition, Sending, Verdict
from tests.builders import NOW, make_delivery, make_device, make_emergency, make_token
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, found_owner, join

WEEK, TAG = 7 * 86_400, b"t" * 32
CANCELLED, EXPIRED = EmergencyEnd("cancelled"), EmergencyEnd("expired")


def acknowledgement(phone: Device) -> EmergencyEnd:
    return EmergencyEnd("acknowledged", phone.id, phone.label)


async def test_an_emergency_is_kept_with_a_blob_per_device_and_its_first_round_is_queued(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    emergency = make_emergency(token, callback="https://ops.example/")
    gone = make_device(phone.owner_id)
    kept = [(phone.id, b"phone's"), (tablet.id, b"tablet's"), (gone.id, b"nobody's")]
    first = [make_delivery(phone, b"first"), make_delivery(gone)]
    assert await store.add_emergency(emergency, [TAG, TAG], kept, first) == (
        Addition.ADDED,
        Sending((phone.id,)),
    )
    assert await store.find_emergency(emergency.receipt, NOW) == emergency
    assert await store.list_emergency_blobs(emergency.receipt) == {phone.id: b"phone's", tablet.id: b"tablet's"}
    assert await blobs(store, phone) == [b"first"]
    await store.remove_device(phone.owner_id, tablet.id)
    assert await store.list_emergency_blobs(emergency.receipt) == {phone.id: b"phone's"}


async def test_a_revoked_token_and_an_owner_with_50_are_refused(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    await store.revoke_token(phone.owner_id, other.id, NOW)
    assert await store.add_emergency(make_emergency(other), [], [], [make_delivery(phone)]) == (
        Addition.REVOKED,
        Sending(),
    )
    first = make_emergency(token, expires_at=NOW + 60)
    for emergency in (first, *(make_emergency(token) for _ in range(49))):
        assert (await store.add_emergency(emergency, [], [], []))[0] is Addition.ADDED
    too_many = make_emergency(token)
    assert await store.add_emergency(too_many, [], [], [make_delivery(phone)]) == (
        Addition.TOO_MANY,
        Sending(),
    )
    assert await blobs(store, phone) == []
    # Time alone frees a place, at the very second.
    later = make_emergency(token, created_at=NOW + 60, expires_at=NOW + 90)
    assert (await store.add_emergency(later, [], [], []))[0] is Addition.ADDED


async def test_a_receipt_is_found_for_a_week_and_swept_after(store: Store):
    _, token = await found_owner(store)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [TAG], [], [])
    assert await store.find_emergency(emergency.receipt, NOW + WEEK - 0.001) == emergency
    assert await store.sweep(NOW + WEEK - 1) == 0
    assert await store.find_emergency(emergency.receipt, NOW + WEEK) is None
    assert await store.end_emergency(emergency.receipt, CANCELLED, [], NOW + WEEK) is None
    assert await store.sweep(NOW + WEEK) == 1


async def test_a_tag_finds_the_token_s_active_ones_only(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    tagged = make_emergency(token)
    untagged = make_emergency(token, created_at=NOW + 1)
    ended = make_emergency(token)
    short = make_emergency(token, expires_at=NOW + 60)
    for emergency, tags in ((tagged, [b"x" * 32, TAG]), (untagged, []), (ended, [TAG]), (short, [TAG])):
        await store.add_emergency(emergency, tags, [], [])
    await store.add_emergency(make_emergency(other), [TAG], [], [])
    await store.end_emergency(ended.receipt, CANCELLED, [], NOW)
    assert await store.list_active_emergencies(token.id, NOW + 60, TAG) == [tagged]
    assert await store.list_active_emergencies(token.id, NOW + 60) == [tagged, untagged]


async def test_a_round_is_due_from_its_very_second_and_made_once(store: Store):
    phone, token = await found_owner(store)
    first = make_emergency(token)
    second = make_emergency(token, next_round_at=NOW + 90)
    for emergency in (second, first):
        await store.add_emergency(emergency, [], [(phone.id, b"again")], [])
    assert await store.list_due_emergencies(NOW + 59.999, 10) == []
    assert await store.list_due_emergencies(NOW + 90, 1) == [first]
    assert await store.list_due_emergencies(NOW + 90, 10) == [first, second]
    again = [Delivery(phone.id, b"again", NOW + 120), make_delivery(make_device(phone.owner_id))]
    assert await store.sound_emergency(first, NOW + 120, again, NOW + 60) == [phone.id]
    assert await store.sound_emergency(first, NOW + 120, again, NOW + 60) is None
    assert await blobs(store, phone) == [b"again"]
    sounded = replace(first, next_round_at=NOW + 120, last_delivered_at=NOW + 60)
    assert await store.find_emergency(first.receipt, NOW) == sounded


async def test_an_end_is_recorded_with_its_closings_and_no_round_comes_after(store: Store):
    phone, token = await found_owner(store)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [], [(phone.id, b"again")], [])
    ended = await store.end_emergency(
        emergency.receipt, acknowledgement(phone), [make_delivery(phone, b"closed")], NOW + 5.5
    )
    assert ended is not None
    assert ended.verdict is Verdict.ACCEPTED
    assert ended.emergency == replace(
        emergency,
        status="acknowledged",
        ended_at=NOW + 5,
        device_id=phone.id,
        device_label=phone.label,
        next_round_at=None,
    )
    assert await store.find_emergency(emergency.receipt, NOW) == ended.emergency
    assert await blobs(store, phone) == [b"closed"]
    assert await store.list_emergency_blobs(emergency.receipt) == {}
    assert await store.sound_emergency(emergency, NOW + 120, [make_delivery(phone)], NOW + 60) is None
    assert await store.list_due_emergencies(NOW + 9_999, 10) == []


@pytest.mark.parametrize(
    ("at", "first", "second", "verdicts"),
    [
        (NOW, CANCELLED, CANCELLED, (Verdict.ACCEPTED, Verdict.REPEATED)),
        (NOW + 3_599.9, EXPIRED, CANCELLED, (Verdict.CLOSED, Verdict.ACCEPTED)),
        (NOW + 3_600, CANCELLED, EXPIRED, (Verdict.CLOSED, Verdict.ACCEPTED)),
        (NOW + 3_600, EXPIRED, EXPIRED, (Verdict.ACCEPTED, Verdict.REPEATED)),
        (NOW + 3_600, EXPIRED, CANCELLED, (Verdict.ACCEPTED, Verdict.CLOSED)),
    ],
    ids=["twice", "expired too soon", "cancelled too late", "expired twice", "cancelled after its end"],
)
async def test_the_first_end_counts(
    store: Store, at: float, first: EmergencyEnd, second: EmergencyEnd, verdicts: tuple[Verdict, Verdict]
):
    phone, token = await found_owner(store)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [], [], [])
    for end, verdict in zip((first, second), verdicts, strict=True):
        result = await store.end_emergency(emergency.receipt, end, [make_delivery(phone)], at)
        assert result is not None
        assert result.verdict is verdict
    assert len(await blobs(store, phone, now=at)) == 1


async def test_a_removed_phone_acknowledges_nothing(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [], [], [])
    await store.remove_device(phone.owner_id, tablet.id)
    result = await store.end_emergency(emergency.receipt, acknowledgement(tablet), [make_delivery(phone)], NOW)
    assert result is not None
    assert (result.verdict, result.emergency) == (Verdict.DEVICE_REMOVED, emergency)
    assert await blobs(store, phone) == []


async def test_only_an_acknowledged_one_with_a_callback_is_called_back_and_less_and_less_often(store: Store):
    phone, token = await found_owner(store)
    called, silent, cancelled = (make_emergency(token, callback=url) for url in ("https://a/", None, "https://b/"))
    for emergency in (called, silent, cancelled):
        await store.add_emergency(emergency, [], [], [])
    assert await store.claim_callbacks(NOW + 9_999, 10) == []
    await store.end_emergency(called.receipt, acknowledgement(phone), [], NOW)
    await store.end_emergency(silent.receipt, acknowledgement(phone), [], NOW)
    await store.end_emergency(cancelled.receipt, CANCELLED, [], NOW)
    at: float = NOW
    for calls, delay in enumerate((60, 300, 900, 3_600, 14_400, None), start=1):
        [claimed] = await store.claim_callbacks(at, 10)
        assert (claimed.receipt, claimed.calls) == (called.receipt, calls)
        assert claimed.next_call_at == (None if delay is None else at + delay)
        assert await store.claim_callbacks(at + (delay or 86_400) - 0.001, 10) == []
        at += delay or 0
    await store.note_called_back(called.receipt, NOW + 7)
    found = await store.find_emergency(called.receipt, NOW)
    assert found is not None
    assert (found.called_back_at, found.next_call_at) == (NOW + 7, None)


async def test_who_was_told_is_not_called_again(store: Store):
    phone, token = await found_owner(store)
    emergency = make_emergency(token, callback="https://a/")
    await store.add_emergency(emergency, [], [], [])
    await store.end_emergency(emergency.receipt, acknowledgement(phone), [], NOW)
    assert len(await store.claim_callbacks(NOW, 10)) == 1
    await store.note_called_back(emergency.receipt, NOW)
    assert await store.claim_callbacks(NOW + 86_400, 10) == []


async def test_deleting_the_owner_takes_the_emergencies_along(store: Store):
    phone, token = await found_owner(store)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [TAG], [(phone.id, b"again")], [])
    await store.delete_owner(phone.owner_id)
    assert await store.find_emergency(emergency.receipt, NOW) is None
    assert await store.list_due_emergencies(NOW + 9_999, 10) == []


async def test_an_acknowledgement_and_a_cancellation_at_once_have_one_winner(store: Store, open_again: OpenHandle):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    handles = (store, await open_again())
    for _ in range(10):
        emergency = make_emergency(token, callback="https://a/")
        await store.add_emergency(emergency, [], [], [])
        before = len(await blobs(store, phone))
        ends = [acknowledgement(phone), CANCELLED, acknowledgement(tablet), CANCELLED]
        async with asyncio.timeout(BOUND_SECONDS):
            results = await asyncio.gather(
                *(
                    handles[number % 2].end_emergency(emergency.receipt, end, [make_delivery(phone)], NOW)
                    for number, end in enumerate(ends)
                )
            )
        verdicts = [result.verdict for result in results if result]
        assert verdicts.count(Verdict.ACCEPTED) == 1
        found = await store.find_emergency(emergency.receipt, NOW)
        assert found is not None
        assert found.status == ends[verdicts.index(Verdict.ACCEPTED)].status
        assert (found.next_call_at is not None) == (found.status == "acknowledged")
        assert len(await blobs(store, phone)) == before + 1


async def test_a_round_at_once_from_two_processes_is_made_once(store: Store, open_again: OpenHandle):
    phone, token = await found_owner(store)
    emergency = make_emergency(token)
    await store.add_emergency(emergency, [], [(phone.id, b"again")], [])
    handles = (store, await open_again())
    async with asyncio.timeout(BOUND_SECONDS):
        rounds = await asyncio.gather(
            *(
                handles[number % 2].sound_emergency(emergency, NOW + 120, [make_delivery(phone)], NOW + 60)
                for number in range(8)
            )
        )
    assert [each for each in rounds if each is not None] == [[phone.id]]
    assert len(await blobs(store, phone)) == 1


async def test_a_callback_is_claimed_by_one_of_two_processes(store: Store, open_again: OpenHandle):
    phone, token = await found_owner(store)
    emergency = make_emergency(token, callback="https://a/")
    await store.add_emergency(emergency, [], [], [])
    await store.end_emergency(emergency.receipt, acknowledgement(phone), [], NOW)
    handles = (store, await open_again())
    async with asyncio.timeout(BOUND_SECONDS):
        claims = await asyncio.gather(*(handles[number % 2].claim_callbacks(NOW, 10) for number in range(8)))
    assert sum(map(len, claims)) == 1
