"""`append_to_queues`, `read_queue`, `ack_queue`."""

from reflecto.core.model import QueueEntry
from reflecto.core.ports.store import Store
from tests.builders import NOW, make_delivery, make_device
from tests.store_conformance.world import blobs, found_owner, join, last_seq, queue, seqs


async def test_entries_are_numbered_from_one_per_device_and_come_out_as_they_went_in(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    deliveries = [
        make_delivery(phone, b"a"),
        make_delivery(tablet, b"b", expires_at=NOW + 7),
        make_delivery(phone, b"\x00\xff", sender=tablet.id),
    ]
    assert await store.append_to_queues(deliveries) == [phone.id, tablet.id, phone.id]
    assert await store.read_queue(phone.id, 0, 10, NOW) == [
        QueueEntry(1, "server", b"a", NOW + 259_200),
        QueueEntry(2, tablet.id, b"\x00\xff", NOW + 259_200),
    ]
    assert await store.read_queue(tablet.id, 0, 10, NOW) == [QueueEntry(1, "server", b"b", NOW + 7)]
    assert await last_seq(store, phone) == 2


async def test_a_device_that_is_gone_is_skipped(store: Store):
    phone, _ = await found_owner(store)
    gone = make_device(phone.owner_id)
    assert await store.append_to_queues([make_delivery(gone), make_delivery(phone, b"a")]) == [phone.id]
    assert await blobs(store, phone) == [b"a"]
    assert await store.read_queue(gone.id, 0, 10, NOW) is None


async def test_reading_starts_behind_the_cursor_and_stops_at_the_limit(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone) for _ in range(5)])
    assert await seqs(store, phone, 0, 2) == [1, 2]
    assert await seqs(store, phone, 2, 2) == [3, 4]
    assert await seqs(store, phone, 4, 2) == [5]
    assert await store.read_queue(phone.id, 5, 2, NOW) == []


async def test_an_entry_is_gone_the_instant_it_expires_and_its_number_is_not_used_again(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone, b"short", expires_at=NOW + 60), make_delivery(phone, b"long")])
    assert await blobs(store, phone, NOW + 59.999) == [b"short", b"long"]
    assert await blobs(store, phone, NOW + 60) == [b"long"]
    assert await seqs(store, phone, now=NOW + 60) == [2]


async def test_expired_entries_do_not_use_up_the_limit(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone, expires_at=NOW + 60) for _ in range(5)])
    await store.append_to_queues([make_delivery(phone, b"live")])
    assert [entry.blob for entry in await queue(store, phone, limit=2, now=NOW + 60)] == [b"live"]


async def test_an_ack_deletes_up_to_its_number_and_numbering_goes_on(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.append_to_queues([make_delivery(each) for each in (phone, tablet) for _ in range(3)])
    assert await store.ack_queue(phone.id, 2) is True
    assert await seqs(store, phone) == [3]
    assert await store.ack_queue(phone.id, 3) is True
    await store.append_to_queues([make_delivery(phone)])
    assert await seqs(store, phone) == [4]
    assert len(await blobs(store, tablet)) == 3


async def test_an_ack_may_be_repeated_and_come_late(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone) for _ in range(3)])
    assert [await store.ack_queue(phone.id, seq) for seq in (2, 2, 0, 1)] == [True] * 4
    assert await seqs(store, phone) == [3]


async def test_an_ack_of_a_number_never_given_out_deletes_nothing(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone) for _ in range(3)])
    assert await store.ack_queue(phone.id, 4) is False
    assert len(await blobs(store, phone)) == 3
    assert await store.ack_queue(make_device(phone.owner_id).id, 0) is False


async def test_a_number_from_before_a_restore_is_acknowledged_and_not_given_out_again(store: Store):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone) for _ in range(2)])
    await store.number_from(1_000)
    assert await store.ack_queue(phone.id, 1_001) is False
    assert await seqs(store, phone) == [1, 2]
    assert await store.ack_queue(phone.id, 900) is True
    await store.append_to_queues([make_delivery(phone)])
    assert await seqs(store, phone) == [1_001]
