"""Time as the core sees it; tests bring their own."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


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
