"""Time as the core sees it; tests bring their own."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Forget the call."""


class Clock(Protocol):
    """Tells the time in Unix seconds and waits on it."""

    def now(self) -> float:
        """Return Unix seconds."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` on the running loop after `seconds`."""

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Return when `event` is set, or at `until` (Unix seconds), whichever is first."""


class SystemClock:
    """The machine's clock."""

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
