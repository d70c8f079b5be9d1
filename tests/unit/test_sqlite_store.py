"""What only the SQLite store promises: its file, its failures, its one writer."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from reflecto.core.model import ReminderDelivery
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.rules.outcomes import Creation
from reflecto.store.sqlite.connection import NewerSchemaError, migrate, open_connection
from reflecto.store.sqlite.store import SqliteStore
from tests.builders import NOW, make_delivery, make_interaction, make_reminder
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.world import blobs, create, found_owner

COUNTED = "SELECT id, json_array(queue_entries, queue_bytes, relayed_entries, relayed_bytes) FROM devices"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    opened = SqliteStore.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def meddle(tmp_path: Path, store: Store) -> Callable[[str], None]:
    """Change the file behind the store's back."""
    assert store is not None

    def run(sql: str) -> None:
        connection = sqlite3.connect(tmp_path / "reflecto.sqlite3", isolation_level=None)
        connection.execute(sql)
        connection.close()

    return run


async def test_its_files_are_for_its_owner_only(tmp_path: Path, store: Store):
    await found_owner(store)
    modes = _modes_in(tmp_path)
    assert set(modes) >= {"reflecto.sqlite3", "reflecto.sqlite3-wal"}
    assert set(modes.values()) == {0o600}


async def test_a_commit_is_on_the_disk_before_it_is_told(tmp_path: Path, store: Store):
    await store.remember("a", "1")
    connection = open_connection(tmp_path / "reflecto.sqlite3")
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert connection.execute("SELECT value FROM installation WHERE name = 'a'").fetchone() == ("1",)
    connection.close()


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(
    tmp_path: Path, store: Store, meddle: Callable[[str], None]
):
    await store.remember("a", "1")
    meddle("PRAGMA user_version = 1000")
    with pytest.raises(NewerSchemaError, match="1000"):
        SqliteStore.open(tmp_path)
    assert await store.recall("a") == "1"


@pytest.mark.parametrize("content", [b"this is no database at all, " * 100, b"SQLite format 3\0" + b"\xff" * 4000])
async def test_a_file_that_is_no_database_is_unavailable_not_overwritten(tmp_path: Path, content: bytes):
    path = tmp_path / "reflecto.sqlite3"
    path.write_bytes(content)
    with pytest.raises(StoreUnavailableError, match=r"reflecto\.sqlite3"):
        SqliteStore.open(tmp_path)
    assert path.read_bytes() == content


async def test_while_a_table_is_broken_calls_are_unavailable_and_then_go_on(
    store: Store, meddle: Callable[[str], None]
):
    phone, token = await found_owner(store)
    meddle("ALTER TABLE interactions RENAME TO gone")
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await create(store, make_interaction(token), phone)
        with pytest.raises(StoreUnavailableError):
            await store.find_interaction(make_interaction(token).id, NOW)
    meddle("ALTER TABLE gone RENAME TO interactions")
    assert (await create(store, make_interaction(token), phone)).creation is Creation.CREATED


async def test_when_the_folder_vanishes_calls_are_unavailable_and_none_hangs(
    tmp_path: Path, store: Store, meddle: Callable[[str], None]
):
    phone, _ = await found_owner(store)
    meddle("ALTER TABLE queue RENAME TO gone")
    with pytest.raises(StoreUnavailableError):  # after which the writer opens the file anew
        await store.append_to_queues([make_delivery(phone)])
    with _hidden(tmp_path):
        async with asyncio.timeout(BOUND_SECONDS):
            for _ in range(3):
                with pytest.raises(StoreUnavailableError):
                    await store.append_to_queues([make_delivery(phone)])
    meddle("ALTER TABLE gone RENAME TO queue")
    assert await store.append_to_queues([make_delivery(phone)]) == [phone.id]


async def test_a_failing_call_is_undone_whole_and_does_not_take_its_neighbours_in_the_batch_with_it(store: Store):
    phone, token = await found_owner(store)
    reminder = make_reminder(token)
    twice = [ReminderDelivery(phone.id, b"on time", b"late")] * 2  # the second one breaks a constraint
    outcomes = await asyncio.gather(
        store.append_to_queues([make_delivery(phone, b"before")]),
        store.add_reminder(reminder, twice),
        store.append_to_queues([make_delivery(phone, b"after")]),
        return_exceptions=True,
    )
    assert outcomes[0] == outcomes[2] == [phone.id]
    assert isinstance(outcomes[1], sqlite3.IntegrityError)
    assert await blobs(store, phone) == [b"before", b"after"]
    assert await store.list_reminders(token.id) == []


async def test_what_was_accepted_before_closing_is_committed_and_nothing_after(tmp_path: Path, store: Store):
    pending = [asyncio.create_task(store.remember(f"fact {number}", "kept")) for number in range(50)]
    await store.remember("last", "kept")
    await store.close()
    await asyncio.gather(*pending)
    with pytest.raises(StoreUnavailableError):
        await store.remember("late", "lost")
    with pytest.raises(StoreUnavailableError):
        await store.recall("last")
    reopened = SqliteStore.open(tmp_path)
    assert [await reopened.recall(f"fact {number}") for number in range(50)] == ["kept"] * 50
    assert await reopened.recall("late") is None
    await reopened.close()


async def test_many_calls_at_once_share_few_commits(tmp_path: Path, store: Store):
    observer = sqlite3.connect(tmp_path / "reflecto.sqlite3")
    versions = set()
    await store.remember("warm", "up")
    waiting = [asyncio.create_task(store.remember(f"fact {number}", "x")) for number in range(200)]
    for each in waiting:
        await each
        versions.add(observer.execute("PRAGMA data_version").fetchone()[0])
    observer.close()
    assert len(versions) <= 20


async def test_two_that_open_an_empty_folder_at_once_make_one_schema(tmp_path: Path):
    for number in range(10):  # SQLite refuses one of them its log in one round of a hundred
        folder = tmp_path / f"fresh-{number}"
        folder.mkdir()
        barrier = threading.Barrier(4)
        connections = await asyncio.gather(*(asyncio.to_thread(_migrated, folder, barrier) for _ in range(4)))
        assert len(set(connections)) == 1


def _modes_in(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@contextmanager
def _hidden(folder: Path) -> Iterator[None]:
    """Take the folder away for a while, as a disk that is not mounted."""
    elsewhere = folder.with_name(f"{folder.name}-hidden")
    folder.rename(elsewhere)
    yield
    elsewhere.rename(folder)


def _migrated(folder: Path, barrier: threading.Barrier) -> tuple[int, int]:
    barrier.wait()
    connection = open_connection(folder / "reflecto.sqlite3")
    migrate(connection)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()
    connection.close()
    return version, tables


def test_a_store_from_before_queues_were_counted_is_counted_when_it_is_opened(tmp_path: Path):
    file = sqlite3.connect(tmp_path / "reflecto.sqlite3", isolation_level=None)
    folder = files("reflecto.store.sqlite.migrations")
    before = sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql") and each.name < "0007")
    for name in before:
        file.executescript(folder.joinpath(name).read_text("utf-8"))
    file.execute(f"PRAGMA user_version = {len(before)}")
    file.execute("INSERT INTO owners (id, created_at) VALUES ('own', 1)")
    for device_id in ("phone", "tablet"):
        file.execute(
            "INSERT INTO devices (id, owner_id, token_hash, public_key, signing_key, label, type, class, created_at) "
            "VALUES (?, 'own', ?, x'00', x'00', 'x', 'cli', 'phone', 1)",
            (device_id, device_id.encode()),
        )
    queued = "INSERT INTO queue (device_id, seq, sender, blob, expires_at) VALUES ('phone', ?, ?, ?, 9)"
    file.executemany(queued, [(1, "server", bytes(10)), (2, "tablet", bytes(20))])
    migrate(file)
    counted = dict(file.execute(COUNTED).fetchall())
    file.close()
    assert counted == {"phone": "[2,30,1,20]", "tablet": "[0,0,0,0]"}
