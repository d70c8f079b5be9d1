"""Counters: how often somebody did something lately. Limits are the server's, so its processes share them.

Every method is a coroutine, since a shared implementation has to ask; one in memory never suspends.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Window(msgspec.Struct, frozen=True):
    """At most `limit` in the last `seconds`, for each key. `name` tells it from other windows.

    With `until_quiet` all that was counted goes on counting until nothing was for `seconds`. With `monthly` all of a
    calendar month (UTC) counts until its end, a restart is no way out, the keys are ids of tokens, and `seconds` is 0.
    """

    name: str
    limit: int
    seconds: int
    until_quiet: bool = False
    monthly: bool = False


Hit = tuple[Window, str]  # a window, and the key it is counted for


class CounterStanding(msgspec.Struct, frozen=True):
    """How often it may still happen, and when (Unix seconds) the window next frees something."""

    window: Window
    remaining: int
    reset_at: float


class Counters(Protocol):
    """Counts per window and key. `now` and `when` are Unix seconds.

    What is counted in common with other processes may be out of reach: then each method raises StoreUnavailableError.
    """

    async def start(self, now: float) -> None:
        """Take up what was counted before the restart and outlives it."""

    async def flush(self, now: float) -> None:
        """Write down what must outlive a restart, where that is not done with each hit."""

    async def hit(self, hits: Sequence[Hit], now: float) -> CounterStanding | None:
        """Count one in each, or none at all where one has nothing left: then return the first of those.

        Of simultaneous calls no two get the same last place.
        """

    async def take_back(self, hits: Sequence[Hit], when: float) -> None:
        """Uncount one in each, which were counted at `when`; those that have left their window stay uncounted."""

    async def forget(self, hit: Hit) -> None:
        """Uncount all of this key in this window, which is not a monthly one."""

    async def standings(self, hits: Sequence[Hit], now: float) -> list[CounterStanding]:
        """Return how these keys stand, in their order, without counting anything."""
