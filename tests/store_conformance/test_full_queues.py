"""How much may wait: the bounds of a queue and of an owner, what is reserved, and what goes for what."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from reflecto.core.model import Delivery, Device, ReminderDelivery
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, Relaying, Verdict
from reflecto.core.rules.queue_room import QueueLimits
from tests.builders import NOW, make_delivery, make_interaction, make_reminder, make_tap
from tests.store_conformance.conftest import OpenHandle, OpenStore
from tests.store_conformance.world import blobs, created, fill_with_reminders, found_owner, join, queue

MIB = 1024 * 1024
BOUNDS = QueueLimits(
    entries=4,
    bytes=1_000,
    relayed_entries=2,
    relayed_bytes=300,
    owner_bytes=1_500,
    reserved_bytes=200,
    reserved_entries=2,
)


@pytest.fixture
async def store(open_bounded: OpenHandle) -> Store:
    """An empty store with small bounds."""
    return await open_bounded()


def of(device: Device, size: int = 10, **fields: object) -> Delivery:
    """Return a blob of so many bytes."""
    return make_delivery(device, bytes(size), **fields)


async def test_the_bounds_are_those_that_the_page_names(store: Store):
    assert store is not None
    assert QueueLimits() == QueueLimits(
        entries=4_000,
        bytes=32 * MIB,
        relayed_entries=2_000,
        relayed_bytes=16 * MIB,
        owner_bytes=256 * MIB,
        reserved_bytes=4 * MIB,
        reserved_entries=500,
    )


async def test_a_full_queue_takes_nothing_and_the_others_do(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.append_to_queues([of(phone) for _ in range(4)])
    assert await store.append_to_queues([of(phone), of(tablet)]) == [tablet.id]
    assert len(await queue(store, phone)) == 4


async def test_bytes_count_up_to_what_is_reserved(store: Store):
    phone, _ = await found_owner(store)
    assert await store.append_to_queues([of(phone, 700)]) == [phone.id]
    assert await store.append_to_queues([of(phone, 101)]) == []
    assert await store.append_to_queues([of(phone, 100)]) == [phone.id]
    assert await store.append_to_queues([of(phone, 1)]) == []
    assert await store.append_to_queues([of(phone, 201, is_essential=True)]) == []
    assert await store.append_to_queues([of(phone, 200, is_essential=True)]) == [phone.id]
    assert await store.append_to_queues([of(phone, 1, is_essential=True)]) == []


async def test_questions_and_closings_have_places_beyond_those_of_the_rest(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([of(phone) for _ in range(4)])
    assert len(await store.append_to_queues([of(phone, is_essential=True) for _ in range(3)])) == 2


async def test_all_queues_of_an_owner_together_are_bounded_and_each_owner_for_itself(store: Store):
    phone, _ = await found_owner(store)
    tablet, other = await join(store, phone.owner_id), (await found_owner(store))[0]
    await store.append_to_queues([of(phone, 700)])
    assert await store.append_to_queues([of(tablet, 601)]) == []
    assert await store.append_to_queues([of(tablet, 600), of(other, 700)]) == [tablet.id, other.id]
    assert await store.append_to_queues([of(tablet, 1)]) == []
    assert await store.append_to_queues([of(tablet, 200, is_essential=True)]) == [tablet.id]
    assert await store.append_to_queues([of(phone, 1, is_essential=True)]) == []


async def test_an_ack_makes_room_and_so_does_unpairing(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.append_to_queues([of(phone, 200) for _ in range(4)] + [of(tablet, 500)])
    assert await store.append_to_queues([of(phone)]) == []
    await store.ack_queue(phone.id, 1)
    assert await store.append_to_queues([of(phone, 201)]) == []
    assert await store.append_to_queues([of(phone, 200)]) == [phone.id]
    assert await store.append_to_queues([of(tablet, 1)]) == []  # the owner's bytes
    await store.remove_device(phone.owner_id, phone.id)
    assert await store.append_to_queues([of(tablet, 300)]) == [tablet.id]


async def test_what_has_expired_counts_until_it_is_swept(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([of(phone, expires_at=NOW + 1) for _ in range(4)])
    assert await store.append_to_queues([of(phone)]) == []
    assert await store.sweep(NOW + 1) == 4
    assert await store.append_to_queues([of(phone)] * 5) == [phone.id] * 4


async def test_the_oldest_relayed_go_for_a_relayed_one_and_nothing_else_does(store: Store):
    phone, _ = await found_owner(store)
    laptop = await join(store, phone.owner_id)
    await store.append_to_queues([make_delivery(phone, b"kept")])
    for text in (b"first", b"second", b"third"):
        sent = [make_delivery(phone, text, sender=laptop.id)]
        assert await store.relay_to_queues(phone.owner_id, sent) is Relaying.QUEUED
    assert await blobs(store, phone) == [b"kept", b"second", b"third"]
    await store.relay_to_queues(phone.owner_id, [of(phone, 300, sender=laptop.id)])
    assert await blobs(store, phone) == [b"kept", bytes(300)]


async def test_a_relayed_one_never_takes_the_place_of_what_the_server_sent(store: Store):
    phone, _ = await found_owner(store)
    laptop = await join(store, phone.owner_id)
    await store.append_to_queues([make_delivery(phone, b"kept") for _ in range(4)])
    sent = [of(phone, sender=laptop.id)]
    assert await store.relay_to_queues(phone.owner_id, sent) is Relaying.QUEUES_FULL
    assert await store.relay_to_queues(phone.owner_id, [*sent, of(laptop, sender=phone.id)]) is Relaying.QUEUED
    assert await blobs(store, phone) == [b"kept"] * 4


async def test_what_could_not_fit_anyway_makes_no_relayed_one_go(store: Store):
    phone, _ = await found_owner(store)
    laptop = await join(store, phone.owner_id)
    await store.append_to_queues([of(phone, 600)])
    await store.relay_to_queues(phone.owner_id, [make_delivery(phone, b"older", sender=laptop.id)])
    too_much = [of(phone, 250, sender=laptop.id)]
    assert await store.relay_to_queues(phone.owner_id, too_much) is Relaying.QUEUES_FULL
    assert (await blobs(store, phone))[-1] == b"older"


async def test_a_question_goes_to_the_phones_with_room_and_is_refused_where_there_is_none(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    both = frozenset({phone.id, tablet.id})
    await store.append_to_queues([of(phone, is_essential=True) for _ in range(6)])
    asked = make_interaction(token)
    prompts = [of(each, is_essential=True) for each in (phone, tablet)]
    assert (await store.create_interaction_once(asked, prompts, both, NOW)).creation is Creation.CREATED
    assert len(await queue(store, tablet)) == 1
    await store.append_to_queues([of(tablet, is_essential=True) for _ in range(5)])
    refused = make_interaction(token)
    assert (await store.create_interaction_once(refused, prompts, both, NOW)).creation is Creation.QUEUES_FULL
    assert await store.find_interaction(refused.id, NOW) is None
    again = replace(asked, id=make_interaction(token).id)
    assert (await store.create_interaction_once(again, prompts, both, NOW)).creation is Creation.REPEATED


async def test_a_tap_and_a_withdrawal_count_although_nobody_can_be_told(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    first, second = [await created(store, token, phone, tablet) for _ in range(2)]
    await store.append_to_queues([of(tablet, is_essential=True) for _ in range(6)])
    closing = [of(tablet, is_essential=True)]
    tapped = await store.record_answer_if_pending(first.id, make_tap(phone), closing, NOW)
    cancelled = await store.cancel_if_pending(second.id, closing, NOW)
    assert tapped is not None
    assert cancelled is not None
    assert (tapped.verdict, cancelled.verdict) == (Verdict.ACCEPTED, Verdict.ACCEPTED)
    assert len(await queue(store, tablet)) == 6


async def test_a_reminder_waits_for_room_and_fires_once(store: Store):
    phone, token = await found_owner(store)
    await store.append_to_queues([of(phone) for _ in range(4)])
    reminder = make_reminder(token)
    await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
    due = reminder.fire_at
    assert await store.fire_reminder(reminder.id, due + 99, late=False, retry_at=due + 60) == []
    assert await store.list_due_reminders(due + 59, 9) == []
    assert await store.list_due_reminders(due + 60, 9) == [(reminder.id, due)]
    await store.ack_queue(phone.id, 4)
    assert await store.fire_reminder(reminder.id, due + 99, late=True, retry_at=due + 120) == [phone.id]
    assert await blobs(store, phone) == [b"late"]
    assert await store.fire_reminder(reminder.id, due + 99, late=True, retry_at=due + 180) is None


async def test_a_reminder_that_may_wait_no_longer_is_forgotten(store: Store):
    phone, token = await found_owner(store)
    await store.append_to_queues([of(phone) for _ in range(4)])
    reminder = make_reminder(token)
    await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
    assert await store.fire_reminder(reminder.id, NOW + 99, late=True) == []
    assert await store.list_reminders(token.id) == []


@pytest.mark.parametrize("processes", [1, 2])
async def test_simultaneous_appends_do_not_pass_the_bounds(open_bounded: OpenHandle, processes: int):
    handles = [await open_bounded() for _ in range(processes)]
    store = handles[0]
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    results = await asyncio.gather(
        *(handles[number % processes].append_to_queues([of(phone, 150), of(tablet, 300)]) for number in range(32))
    )
    reached = Counter(device_id for result in results for device_id in result)
    # 800 bytes of a queue and 1,300 of the owner's are for such, whoever comes first.
    held = {device.id: sum(len(each.blob) for each in await queue(store, device)) for device in (phone, tablet)}
    assert held == {phone.id: 150 * reached[phone.id], tablet.id: 300 * reached[tablet.id]}
    assert max(held.values()) <= 800
    assert 1_150 < sum(held.values()) <= 1_300


async def test_a_large_queue_goes_whole_with_its_ack_its_device_its_owner_or_its_time(
    store_kind: str, open_store: OpenStore, tmp_path: Path
):
    (tmp_path / "large").mkdir()
    store = await open_store(tmp_path / "large")
    try:
        phone, token = await found_owner(store)
        tablet = await join(store, phone.owner_id)
        other = await join(store, phone.owner_id)
        many = [of(each, 40_000, expires_at=NOW + 60) for each in (phone, tablet, other) for _ in range(30)]
        assert len(await store.append_to_queues(many)) == 90
        assert await store.ack_queue(phone.id, 29)
        assert [entry.seq for entry in await queue(store, phone)] == [30]
        assert await store.remove_device(phone.owner_id, tablet.id)
        assert await store.read_queue(tablet.id, 0, 10, NOW) is None
        steps = []
        while step := await store.sweep(NOW + 60):
            steps.append(step)
        assert sum(steps) == 31
        assert len(steps) >= {"sqlite": 2, "postgres": 1}[store_kind]
        await store.append_to_queues(many)
        await fill_with_reminders(store, token, 250)
        await store.delete_owner(phone.owner_id)
        assert await store.list_owners() == []
        assert await store.list_due_reminders(NOW + 9_999, 9) == []
        assert await store.read_queue(other.id, 0, 10, NOW) is None
    finally:
        await store.close()
