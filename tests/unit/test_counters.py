"""What every implementation of the counters promises: that in memory, and that of several processes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reflecto.backing import open_postgres
from reflecto.core.ports.counting import Counters, CounterStanding, Window
from reflecto.core.ports.store import Store
from reflecto.store.memory.counters import MemoryCounters
from reflecto.store.sqlite.store import SqliteStore
from tests.builders import NOW
from tests.databases import Databases
from tests.store_conformance.conftest import STORES
from tests.store_conformance.world import found_owner

MINUTE = Window("minute", 2, seconds=60)
HOUR = Window("hour", 3, seconds=3_600)
QUIET = Window("quiet", 2, seconds=60, until_quiet=True)
MONTH = Window("month", 2, seconds=0, monthly=True)
SEPTEMBER = 1_756_684_800


@pytest.fixture(params=STORES)
async def counting(
    request: pytest.FixtureRequest, tmp_path: Path, databases: Databases
) -> AsyncIterator[tuple[Counters, Store]]:
    """Counters, and the store they stand on."""
    if request.param == "sqlite":
        store = SqliteStore.open(tmp_path)
        yield MemoryCounters(store), store
        await store.close()
        return
    backing = await open_postgres(await databases.of(tmp_path))
    backing.store.when_changed_elsewhere(lambda _: None)
    yield backing.counters, backing.store
    await backing.store.close()
    databases.give_back(tmp_path)


@pytest.fixture
def counters(counting: tuple[Counters, Store]) -> Counters:
    return counting[0]


@pytest.fixture
async def token_id(counting: tuple[Counters, Store]) -> str:
    _, token = await found_owner(counting[1])
    return token.id


async def standing(counters: Counters, window: Window, key: str, now: float) -> CounterStanding:
    """Return how one key stands."""
    (found,) = await counters.standings([(window, key)], now)
    return found


async def test_several_windows_are_counted_together_or_not_at_all(counters: Counters):
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) is None
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) is None
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) == CounterStanding(MINUTE, 0, NOW + 60)
    assert await standing(counters, HOUR, "a", NOW) == CounterStanding(HOUR, 1, NOW + 3_600)
    assert await counters.standings([(MINUTE, "b"), (HOUR, "b")], NOW) == [
        CounterStanding(MINUTE, 2, NOW + 60),
        CounterStanding(HOUR, 3, NOW + 3_600),
    ]


async def test_of_simultaneous_hits_no_two_get_the_last_place(counters: Counters):
    refused = await asyncio.gather(*(counters.hit([(MINUTE, "a"), (HOUR, str(n % 3))], NOW) for n in range(20)))
    assert refused.count(None) == 2
    left = await counters.standings([(HOUR, "0"), (HOUR, "1"), (HOUR, "2")], NOW)
    assert sum(each.remaining for each in left) == 7


@pytest.mark.parametrize("window", [MINUTE, HOUR, QUIET])
async def test_what_is_taken_back_or_forgotten_counts_no_more(counters: Counters, window: Window):
    for _ in range(2):
        await counters.hit([(window, "a")], NOW)
    await counters.take_back([(window, "a")], NOW)
    assert (await standing(counters, window, "a", NOW)).remaining == window.limit - 1
    await counters.hit([(window, "a")], NOW)
    await counters.forget((window, "a"))
    assert (await standing(counters, window, "a", NOW)).remaining == window.limit
    await counters.take_back([(window, "a")], NOW)
    assert (await standing(counters, window, "a", NOW)).remaining == window.limit


async def test_a_rolling_window_frees_each_hit_and_a_quiet_one_all_at_once(counters: Counters):
    for window in (MINUTE, QUIET):
        await counters.hit([(window, "a")], NOW)
        await counters.hit([(window, "a")], NOW + 30)
    assert (await standing(counters, MINUTE, "a", NOW + 60)).remaining == 1
    assert await standing(counters, QUIET, "a", NOW + 60) == CounterStanding(QUIET, 0, NOW + 90)
    assert (await standing(counters, QUIET, "a", NOW + 90)).remaining == 2
    assert await counters.hit([(QUIET, "a")], NOW + 90) is None
    assert (await standing(counters, QUIET, "a", NOW + 90)).remaining == 1


async def test_what_was_counted_before_the_clock_was_put_back_counts_no_more(counters: Counters):
    for window in (MINUTE, QUIET):
        for _ in range(2):
            await counters.hit([(window, "a")], NOW + 10_000)
        assert (await standing(counters, window, "a", NOW)).remaining == 2
        assert await counters.hit([(window, "a")], NOW) is None
        assert (await standing(counters, window, "a", NOW)).remaining == 1


async def test_a_month_counts_until_its_end_and_then_no_more(counters: Counters, token_id: str):
    await counters.start(NOW)
    await counters.hit([(MONTH, token_id)], NOW)
    await counters.hit([(MONTH, token_id), (MINUTE, "a")], SEPTEMBER - 1)
    refused = await counters.hit([(MINUTE, "a"), (MONTH, token_id)], SEPTEMBER - 1)
    assert refused == CounterStanding(MONTH, 0, SEPTEMBER)
    assert (await standing(counters, MINUTE, "a", SEPTEMBER - 1)).remaining == 1
    await counters.take_back([(MONTH, token_id), (MINUTE, "a")], SEPTEMBER - 1)
    assert (await standing(counters, MONTH, token_id, SEPTEMBER - 1)).remaining == 1
    assert (await standing(counters, MONTH, token_id, SEPTEMBER)).remaining == 2
    assert await counters.hit([(MONTH, token_id)], SEPTEMBER) is None
    await counters.take_back([(MONTH, token_id)], SEPTEMBER - 1)
    assert (await standing(counters, MONTH, token_id, SEPTEMBER)).remaining == 1


async def test_the_counts_of_the_month_are_in_the_store(counting: tuple[Counters, Store], token_id: str):
    counters, store = counting
    await counters.start(NOW)
    for _ in range(2):
        await counters.hit([(MONTH, token_id)], NOW)
    await counters.flush(NOW)
    assert await store.load_monthly_counts("2025-08") == {token_id: 2}
