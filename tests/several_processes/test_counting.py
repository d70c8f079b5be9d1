"""Counts of several processes are one count, whatever happens between them and the database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

from reflecto.backing import backing_in_memory, open_postgres
from reflecto.core.ports.counting import Counters, Window
from reflecto.store.postgres import counters
from reflecto.store.sqlite.store import SqliteStore
from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.databases import Databases
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.postgres import connected
from tests.several_processes.conftest import Two
from tests.store_conformance.world import found_owner
from tests.sync_reader import open_sync

MINUTE: Final = Window("minute", 50, seconds=60)
HOUR: Final = Window("hour", 70, seconds=3_600)
MONTH: Final = Window("month", 20, seconds=0, monthly=True)

_TERMINATE: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> $1"
)
Open = Callable[[], Awaitable[Counters]]


@pytest.fixture
async def database(tmp_path: Path, databases: Databases) -> AsyncIterator[str]:
    """An empty database."""
    yield await databases.of(tmp_path)
    databases.give_back(tmp_path)


@pytest.fixture
async def counting(database: str) -> AsyncIterator[list[Counters]]:
    """The counters of two processes."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(2):
            backing = await open_postgres(database)
            stack.push_async_callback(backing.store.close)
            backing.store.when_changed_elsewhere(lambda _: None)
            found.append(backing.counters)
        yield found


async def test_of_many_hits_at_two_processes_exactly_as_many_pass_as_may(counting: list[Counters]):
    hits = [[(MINUTE, "a"), (HOUR, "a")], [(HOUR, "a")], [(MINUTE, "b"), (HOUR, "a")]]
    refused = await asyncio.gather(*(counting[n % 2].hit(hits[n % 3], NOW) for n in range(240)))
    assert refused.count(None) == 70
    minute_a, minute_b, hour = await counting[0].standings([(MINUTE, "a"), (MINUTE, "b"), (HOUR, "a")], NOW)
    assert hour.remaining == 0
    passed = [each is None for each in refused]
    assert (50 - minute_a.remaining, 50 - minute_b.remaining) == (sum(passed[0::3]), sum(passed[2::3]))


async def test_what_one_takes_back_the_other_may_use(counting: list[Counters]):
    first, second = counting
    assert [await first.hit([(MINUTE, "a")], NOW) for _ in range(50)] == [None] * 50
    assert await second.hit([(MINUTE, "a")], NOW) is not None
    await first.take_back([(MINUTE, "a")], NOW)
    assert [await second.hit([(MINUTE, "a")], NOW) is None for _ in range(2)] == [True, False]
    await first.forget((MINUTE, "a"))
    assert await second.hit([(MINUTE, "a")], NOW) is None


async def test_where_connections_break_meanwhile_no_more_pass_than_may(counting: list[Counters], database: str):
    async with connected(database) as connection:
        own = connection.get_server_pid()
        hitting = [asyncio.create_task(counting[n % 2].hit([(MINUTE, "a")], NOW)) for n in range(60)]
        for _ in range(3):
            await connection.execute(_TERMINATE, own)
            hitting += [asyncio.create_task(counting[n % 2].hit([(MINUTE, "a")], NOW)) for n in range(60)]
        refused = await asyncio.gather(*hitting)
    assert 1 <= refused.count(None) <= 50
    assert (await counting[0].standings([(MINUTE, "a")], NOW))[0].remaining == 0


async def test_slots_that_have_left_their_window_are_swept(
    counting: list[Counters], database: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(counters, "SWEEP_SECONDS", 0.05)
    for at in (NOW, NOW + 30, NOW + 100):
        await counting[0].hit([(MINUTE, "a"), (HOUR, "a")], at)
    async with connected(database) as connection:
        async with asyncio.timeout(BOUND_SECONDS):
            while await connection.fetchval("SELECT count(*) FROM counts WHERE window_name = 'minute'") > 1:
                await counting[0].hit([(HOUR, "b")], NOW + 100)
    (standing,) = await counting[1].standings([(HOUR, "a")], NOW + 100)
    assert standing.remaining == 67


async def test_two_processes_on_one_folder_add_their_monthly_counts_up(tmp_path: Path):
    stores = [SqliteStore.open(tmp_path) for _ in range(2)]
    _, token = await found_owner(stores[0])
    counting = [backing_in_memory(store, FakeClock()).counters for store in stores]
    for each in counting:
        await each.start(NOW)
        for _ in range(3):
            await each.hit([(MONTH, token.id)], NOW)
        await each.take_back([(MONTH, token.id)], NOW)
    for each in counting:
        await each.flush(NOW)
        await each.flush(NOW)
    assert await stores[0].load_monthly_counts("2025-08") == {token.id: 4}
    for store in stores:
        await store.close()


async def test_without_its_database_a_server_lets_nothing_pass_and_holds_no_stream(
    two: Two, phone: DeviceActor, sender: Program
):
    name = two.database.rpartition("/")[2]
    async with connected(two.database.replace(name, "postgres")) as admin:
        async with open_sync(phone, after=1) as stream:
            await stream.comment()
            await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
            replies = await asyncio.gather(sender.send(), two.at_b(sender).ask(), two.a.http.get("/readyz"))
            await stream.end()
        assert {reply.status_code for reply in replies} == {503}
        assert {int(reply.headers["retry-after"]) > 0 for reply in replies} == {True}
        await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    async with asyncio.timeout(BOUND_SECONDS):
        while (await two.at_b(sender).send("Back")).status_code == 503:
            pass
    async with open_sync(phone, after=1) as stream:
        assert (await stream.envelope()).payload["message"] == "Back"
