"""`core.ports.counting.Counters` in the memory of one process: exact to the second, and gone with a restart."""

from collections.abc import Sequence

from reflecto.core.ports.counting import CounterStanding, Hit, Window
from reflecto.core.rules.windows import QuietWindow, RollingWindow


class MemoryCounters:
    """Counts on the event loop without ever suspending, so that no two requests share a last place."""

    def __init__(self) -> None:
        self._windows: dict[Window, RollingWindow | QuietWindow] = {}

    async def hit(self, hits: Sequence[Hit], now: float) -> CounterStanding | None:
        """Count one in each, or none at all where one has nothing left: then return the first of those."""
        for window, key in hits:
            counts = self._counts_of(window)
            if not counts.remaining(key, now):
                return CounterStanding(window, 0, counts.reset_at(key, now))
        for window, key in hits:
            self._counts_of(window).add(key, now)
        return None

    async def take_back(self, hits: Sequence[Hit], when: float) -> None:
        """Uncount one in each, which were counted at `when`."""
        for window, key in hits:
            self._counts_of(window).take_back(key, when)

    async def forget(self, hit: Hit) -> None:
        """Uncount all of this key in this window."""
        window, key = hit
        self._counts_of(window).forget(key)

    async def standing(self, hit: Hit, now: float) -> CounterStanding:
        """Return how this key stands."""
        window, key = hit
        counts = self._counts_of(window)
        return CounterStanding(window, counts.remaining(key, now), counts.reset_at(key, now))

    def _counts_of(self, window: Window) -> RollingWindow | QuietWindow:
        counts = self._windows.get(window)
        if counts is None:
            kind = QuietWindow if window.until_quiet else RollingWindow
            counts = self._windows[window] = kind(window.limit, window.seconds)
        return counts
