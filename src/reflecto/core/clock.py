"""Time as the core sees it; tests bring their own."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final, Protocol

OFF_SECONDS_MAX: Final = 1.0  # how far a machine's clock may be from the database's before that is warned of

logger = logging.getLogger(__name__)


class Timer(Protocol):
    """What `Clock.call_later` returns."""

    def cancel(self) -> None:
        """Make sure that the callback is not called; nothing happens if it was."""


class Clock(Protocol):
    """Tells the time, calls back later and waits; a test's clock does so without waiting."""

    def now(self) -> float:
        """Return the time in Unix seconds."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` on the running loop after `seconds`."""

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Return when `event` is set, or at `until` (Unix seconds), whichever is first."""


class SystemClock:
    """The clock of the machine, on the running asyncio loop."""

    def now(self) -> float:
        """Return Unix seconds."""
        return time.time()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` on the running loop after `seconds`."""
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Return when `event` is set, or at `until`."""
        try:
            async with asyncio.timeout(max(0.0, until - self.now())):
                await event.wait()
        except TimeoutError:
            pass


class StoreClock(SystemClock):
    """The clock of a database that several machines share: this machine's steady clock and an offset.

    It never goes back: where the database's clock did, it stands still until that has caught up.
    """

    def __init__(self, machine: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._machine = machine
        self._steady = steady
        self._offset = machine() - steady()
        self._latest = 0.0
        self._is_off = False

    def now(self) -> float:
        """Return Unix seconds."""
        self._latest = max(self._latest, self._steady() + self._offset)
        return self._latest

    def set(self, now: float, asked: float, answered: float) -> None:
        """Go by what the database said its time was, asked and answered at these instants of the steady clock."""
        self._offset = now - (asked + answered) / 2
        off_seconds = self._machine() - (self._steady() + self._offset)
        is_off = abs(off_seconds) > OFF_SECONDS_MAX + (answered - asked) / 2
        if is_off and not self._is_off:
            way = "ahead of" if off_seconds > 0 else "behind"
            logger.warning(
                "this machine's clock is %.1f s %s the database's, which counts; set both by NTP", abs(off_seconds), way
            )
        self._is_off = is_off
