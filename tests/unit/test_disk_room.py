"""What a store does as its disk fills: measured free room decides, deletes go on, and the reserve is for the end."""

import shutil
import sqlite3
import stat
from collections import namedtuple
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from reflecto.core.model import Device
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.rules.outcomes import Creation
from reflecto.store.sqlite.connection import open_connection
from reflecto.store.sqlite.room import FREE_MIN_BYTES, RESERVE_NAME, Room
from reflecto.store.sqlite.store import SqliteStore
from tests.builders import NOW, make_delivery, make_interaction, make_token
from tests.store_conformance.world import create, found_owner, join, queue

MIB = 1024 * 1024
Usage = namedtuple("Usage", "total used free")  # noqa: PYI024  what shutil returns


class Disk:
    """What the disk says of itself."""

    def __init__(self) -> None:
        self.total, self.free = 1_000 * MIB, 500 * MIB

    def usage(self, _folder: Path) -> Usage:
        return Usage(self.total, self.total - self.free, self.free)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk that tells what the test wants."""
    disk = Disk()
    monkeypatch.setattr(shutil, "disk_usage", disk.usage)
    return disk


@pytest.fixture
async def store(tmp_path: Path, disk: Disk) -> AsyncIterator[Store]:
    """An empty store on it."""
    assert disk
    opened = SqliteStore.open(tmp_path)
    yield opened
    await opened.close()


async def fill(store: Store, phone: Device) -> int:
    """Append until nothing fits, however small; return how many did."""
    taken = 0
    for size in (20_000, 100):
        with suppress(StoreUnavailableError):
            while await store.append_to_queues([make_delivery(phone, bytes(size))]):
                taken += 1
    return taken


async def test_on_a_nearly_full_disk_nothing_new_is_taken_and_what_makes_room_goes_on(store: Store, disk: Disk):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    question = make_interaction(token)
    await create(store, question, phone, tablet)
    disk.free = FREE_MIN_BYTES - 1
    for refused in (
        store.append_to_queues([make_delivery(phone)]),
        create(store, make_interaction(token), phone, tablet),
        store.add_token(make_token(phone.owner_id)),
        store.remember("a", "1"),
        store.probe(),
    ):
        with pytest.raises(StoreUnavailableError, match="nearly full"):
            await refused
    assert await store.ack_queue(phone.id, 1)
    assert await store.cancel_if_pending(question.id, [make_delivery(phone)], NOW)
    assert await store.remove_device(phone.owner_id, tablet.id)
    assert await store.revoke_token(phone.owner_id, token.id, NOW)
    assert await store.sweep(NOW + 259_200) > 0
    disk.free = FREE_MIN_BYTES
    await store.probe()
    assert await store.append_to_queues([make_delivery(phone)]) == [phone.id]


async def test_pages_that_deletes_left_behind_count_as_room(store: Store, disk: Disk):
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone, bytes(MIB)) for _ in range(10)])
    await store.ack_queue(phone.id, 10)
    disk.free = FREE_MIN_BYTES // 4
    assert await store.append_to_queues([make_delivery(phone)]) == [phone.id]
    disk.free = FREE_MIN_BYTES // 4 - 1  # not even the log has room
    with pytest.raises(StoreUnavailableError):
        await store.append_to_queues([make_delivery(phone)])


async def test_a_small_disk_is_measured_by_its_size(store: Store, disk: Disk):
    disk.total = 16 * MIB
    disk.free = MIB
    await store.probe()
    disk.free = MIB // 2
    with pytest.raises(StoreUnavailableError):
        await store.probe()


async def test_numbering_that_failed_comes_before_anything_else(store: Store, tmp_path: Path):
    phone, _ = await found_owner(store)
    other = sqlite3.connect(tmp_path / "reflecto.sqlite3", isolation_level=None)
    other.execute("ALTER TABLE devices RENAME COLUMN last_seq TO away")
    with pytest.raises(StoreUnavailableError):
        await store.number_from(1_000)
    other.execute("ALTER TABLE devices RENAME COLUMN away TO last_seq")
    other.close()
    await store.append_to_queues([make_delivery(phone)])
    assert [entry.seq for entry in await queue(store, phone)] == [1_001]


def test_the_reserve_is_private_made_where_there_is_room_and_given_up_once(tmp_path: Path, disk: Disk):
    room, reserve = Room(tmp_path, keeps_reserve=True), tmp_path / RESERVE_NAME
    disk.free = FREE_MIN_BYTES // 4
    room.make_reserve()
    assert not reserve.exists()
    disk.free = 500 * MIB
    room.make_reserve()
    assert reserve.stat().st_size == FREE_MIN_BYTES
    assert stat.S_IMODE(reserve.stat().st_mode) == 0o600
    assert [room.give_up_reserve(), room.give_up_reserve()] == [True, False]
    room.make_reserve()
    assert not reserve.exists()  # not at once: whoever needed it may need it again


def test_a_command_keeps_no_reserve(tmp_path: Path, disk: Disk):
    assert disk
    Room(tmp_path).make_reserve()
    assert list(tmp_path.iterdir()) == []


async def test_what_a_full_file_refuses_is_refused_whole_and_deletes_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    limits = {"pages": 0}

    def limited(path: Path, **options: bool) -> sqlite3.Connection:
        connection = open_connection(path, **options)
        if limits["pages"]:
            connection.execute(f"PRAGMA max_page_count = {limits['pages']}")
        return connection

    monkeypatch.setattr("reflecto.store.sqlite.writer.open_connection", limited)
    limits["pages"] = 120
    store = SqliteStore.open(tmp_path)
    try:
        phone, token = await found_owner(store)
        taken = await fill(store, phone)
        assert taken > 10
        assert len(await queue(store, phone)) == taken
        with pytest.raises(StoreUnavailableError):
            await store.probe()
        assert await store.ack_queue(phone.id, taken)
        await store.probe()
        assert (await create(store, make_interaction(token), phone)).creation is Creation.CREATED
    finally:
        await store.close()
