"""The fake clock behaves as the machine's does, except that a test moves it."""

import asyncio

import pytest

from reflecto.core.clock import Clock, SystemClock
from tests.fakes import BOUND_SECONDS, START, FakeClock

SOON_SECONDS = 0.01


@pytest.fixture(params=["system", "fake"])
def clock(request: pytest.FixtureRequest) -> Clock:
    """Either clock."""
    return SystemClock() if request.param == "system" else FakeClock()


def move(clock: Clock) -> None:
    """Let `SOON_SECONDS` pass; the machine's clock does that by itself."""
    if isinstance(clock, FakeClock):
        clock.advance(SOON_SECONDS)


async def test_a_wait_ends_when_its_event_is_set_long_before_its_time(clock: Clock):
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    async with asyncio.timeout(BOUND_SECONDS):
        await clock.wait(event, clock.now() + 3_600)


async def test_a_wait_ends_at_its_time_though_nothing_happened(clock: Clock):
    until = clock.now() + SOON_SECONDS
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), until))
    await asyncio.wait([waiting], timeout=0)
    move(clock)
    async with asyncio.timeout(BOUND_SECONDS):
        await waiting
    assert clock.now() >= until - 0.001  # the loop's clock and the system's are two


async def test_a_wait_for_what_has_happened_or_is_over_ends_at_once(clock: Clock):
    happened = asyncio.Event()
    happened.set()
    async with asyncio.timeout(BOUND_SECONDS):
        await clock.wait(happened, clock.now() + 3_600)
        await clock.wait(asyncio.Event(), clock.now())
        await clock.wait(asyncio.Event(), clock.now() - 1)


async def test_a_timer_calls_once_and_not_if_it_was_cancelled(clock: Clock):
    called: list[str] = []
    done = asyncio.Event()
    clock.call_later(SOON_SECONDS / 2, lambda: called.append("cancelled")).cancel()
    clock.call_later(SOON_SECONDS / 2, lambda: called.append("called"))
    clock.call_later(SOON_SECONDS, done.set)
    move(clock)
    async with asyncio.timeout(BOUND_SECONDS):
        await done.wait()
    move(clock)
    assert called == ["called"]


async def test_a_cancelled_wait_leaves_nothing_behind():
    clock = FakeClock()
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), START + 5))
    await clock.until_waited_for(START + 5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    clock.advance(5)


async def test_the_fake_clock_calls_what_is_due_in_order_each_at_its_instant():
    clock, seen = FakeClock(), []

    def again() -> None:
        seen.append(clock.now() - START)
        clock.call_later(20, again)

    clock.call_later(20, again)
    clock.call_later(30, lambda: seen.append(clock.now() - START))
    clock.advance(65)
    assert seen == [20, 30, 40, 60]
    assert clock.now() == START + 65
