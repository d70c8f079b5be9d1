"""What every implementation of the counters promises; the one in memory keeps it."""

import asyncio

import pytest

from reflecto.core.ports.counting import Counters, CounterStanding, Window
from reflecto.store.memory.counters import MemoryCounters
from tests.builders import NOW

MINUTE = Window("minute", 2, seconds=60)
HOUR = Window("hour", 3, seconds=3_600)
QUIET = Window("quiet", 2, seconds=60, until_quiet=True)


@pytest.fixture
def counters() -> Counters:
    return MemoryCounters()


async def test_several_windows_are_counted_together_or_not_at_all(counters: Counters):
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) is None
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) is None
    assert await counters.hit([(HOUR, "a"), (MINUTE, "a")], NOW) == CounterStanding(MINUTE, 0, NOW + 60)
    assert await counters.standing((HOUR, "a"), NOW) == CounterStanding(HOUR, 1, NOW + 3_600)
    assert (await counters.standing((MINUTE, "b"), NOW)).remaining == 2


async def test_of_simultaneous_hits_no_two_get_the_last_place(counters: Counters):
    refused = await asyncio.gather(*(counters.hit([(MINUTE, "a")], NOW) for _ in range(20)))
    assert refused.count(None) == 2


@pytest.mark.parametrize("window", [MINUTE, QUIET])
async def test_what_is_taken_back_or_forgotten_counts_no_more(counters: Counters, window: Window):
    for _ in range(2):
        await counters.hit([(window, "a")], NOW)
    await counters.take_back([(window, "a")], NOW)
    assert (await counters.standing((window, "a"), NOW)).remaining == 1
    await counters.hit([(window, "a")], NOW)
    await counters.forget((window, "a"))
    assert (await counters.standing((window, "a"), NOW)).remaining == 2
    await counters.take_back([(window, "a")], NOW)
    assert (await counters.standing((window, "a"), NOW)).remaining == 2


async def test_a_rolling_window_frees_each_hit_and_a_quiet_one_all_at_once(counters: Counters):
    for window in (MINUTE, QUIET):
        await counters.hit([(window, "a")], NOW)
        await counters.hit([(window, "a")], NOW + 30)
    assert (await counters.standing((MINUTE, "a"), NOW + 60)).remaining == 1
    assert await counters.standing((QUIET, "a"), NOW + 60) == CounterStanding(QUIET, 0, NOW + 90)
    assert (await counters.standing((QUIET, "a"), NOW + 90)).remaining == 2
