"""What processes tell each other through the database, whichever way it gets there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from reflecto.core.ports.wakeups import News
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.news import NewsFeed
from tests.databases import Databases
from tests.fakes import BOUND_SECONDS
from tests.postgres import connected

_TELL = (
    "INSERT INTO news (process_id, device_ids, watched_ids, ended_ids, cancelled_calls) "
    "VALUES ($1, ARRAY[$2], '{}', '{}', '{}')"
)


class Ear:
    """A process that listens."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.heard: list[str] = []
        self.everything = 0
        self._happened = asyncio.Event()
        database.news.when_heard(self._hear)
        database.listener.start()

    def _hear(self, news: News) -> None:
        self.heard += sorted(news.device_ids)
        self.everything += news.everything
        self._happened.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once it is so. Raises: TimeoutError."""
        async with asyncio.timeout(BOUND_SECONDS):
            while not condition():
                self._happened.clear()
                await self._happened.wait()


@pytest.fixture
async def address(tmp_path: Path, databases: Databases) -> AsyncIterator[str]:
    """An empty database."""
    yield await databases.of(tmp_path)
    databases.give_back(tmp_path)


@pytest.fixture
async def ear(address: str) -> AsyncIterator[Ear]:
    """A process that has begun to listen."""
    database = await Database.open(address, QueueLimits())
    ear = Ear(database)
    await ear.until(lambda: ear.everything == 1)
    yield ear
    await database.close()


@pytest.fixture
async def other(address: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """A connection of another process, which never hints."""
    async with connected(address) as connection:
        yield connection


async def test_without_any_hint_it_is_heard_within_a_second(ear: Ear, other: "asyncpg.Connection[Any]"):
    await other.execute(_TELL, "other", "dev_1")
    await ear.until(lambda: ear.heard == ["dev_1"])


async def test_what_commits_late_is_heard_though_a_later_transaction_was_first(
    ear: Ear, other: "asyncpg.Connection[Any]", address: str
):
    async with other.transaction():
        await other.execute(_TELL, "other", "dev_late")  # has its number now
        async with connected(address) as another:
            await another.execute(_TELL, "another", "dev_early")
        await ear.until(lambda: ear.heard == ["dev_early"])
        await other.execute(_TELL, "other", "dev_late_too")
    await ear.until(lambda: len(ear.heard) == 3)
    assert ear.heard == ["dev_early", "dev_late", "dev_late_too"]


class CountingConnection:
    """A connection that notes how many rows each query brought."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.rows_read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        """Be the connection in all else."""
        return getattr(self._connection, name)

    async def fetch(self, *arguments: Any) -> Any:
        """Query and count."""
        rows = await self._connection.fetch(*arguments)
        self.rows_read.append(len(rows))
        return rows


async def test_a_look_reads_nothing_twice_while_some_transaction_stays_open(
    ear: Ear, other: "asyncpg.Connection[Any]", address: str
):
    heard: list[str] = []
    feed = NewsFeed("me", lambda: None)
    feed.when_heard(lambda news: heard.extend(news.device_ids))
    async with connected(address) as writer, connected(address) as opened:
        reader: Any = CountingConnection(opened)

        async def tell(connection: "asyncpg.Connection[Any]", device_id: str) -> None:
            await connection.execute(_TELL, "other", device_id)
            await writer.execute("NOTIFY reflecto_news")

        async with asyncio.timeout(BOUND_SECONDS):
            async with other.transaction():
                await other.execute("SELECT pg_current_xact_id()")
                await feed.begin(reader)
                for number in range(5):
                    await tell(writer, f"dev_{number}")
                    while len(heard) <= number:
                        await feed.turn(reader)
                        await reader.execute("SELECT")
                await other.execute(_TELL, "other", "dev_late")
            await tell(writer, "dev_last")
            while len(heard) < 7:
                await feed.turn(reader)
                await reader.execute("SELECT")
        assert heard[:5] == [f"dev_{number}" for number in range(5)]
        assert sorted(heard[5:]) == ["dev_last", "dev_late"]
        assert max(reader.rows_read) <= 2
        await ear.until(lambda: len(ear.heard) == 7)


async def test_own_news_is_skipped(ear: Ear, other: "asyncpg.Connection[Any]"):
    await other.execute(_TELL, ear.database.process_id, "dev_own")
    await other.execute(_TELL, "other", "dev_1")
    await ear.until(lambda: bool(ear.heard))
    assert ear.heard == ["dev_1"]


async def test_a_new_connection_takes_everything_for_changed(ear: Ear, other: "asyncpg.Connection[Any]"):
    await other.execute("TRUNCATE news, processes, presence")  # as after a crash
    ear.database.presence.open("dev_here")
    await other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> $1",
        other.get_server_pid(),
    )
    await ear.until(lambda: ear.everything == 2)
    async with asyncio.timeout(BOUND_SECONDS):
        while not await other.fetchval("SELECT count(*) FROM presence WHERE device_id = 'dev_here'"):
            pass


@pytest.mark.usefixtures("ear")
async def test_rows_live_for_a_minute(other: "asyncpg.Connection[Any]"):
    await other.execute(_TELL, "other", "dev_old")
    await other.execute(_TELL, "other", "dev_new")
    await other.execute("UPDATE news SET at = at - interval '61 s' WHERE 'dev_old' = ANY(device_ids)")
    async with asyncio.timeout(BOUND_SECONDS):
        while await other.fetchval("SELECT count(*) FROM news") > 1:
            pass
    assert await other.fetchval("SELECT device_ids[1] FROM news") == "dev_new"
