"""`core.ports.counting.Counters` in the memory of one process: exact to the second, and gone with a restart.

Monthly counts alone outlive it: the store keeps them.
"""

from collections.abc import Sequence

from reflecto.core.ports.counting import CounterStanding, Hit, Window
from reflecto.core.ports.store import Store
from reflecto.core.rules.months import month_of
from reflecto.core.rules.windows import QuietWindow, RollingWindow
from reflecto.store.memory.monthly_counts import MonthlyCounts


class MemoryCounters:
    """Counts on the event loop without ever suspending, so that no two requests share a last place."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._month = ""
        self._month_counts: dict[str, int] = {}
        self._windows: dict[Window, RollingWindow | QuietWindow] = {}
        self._monthly: dict[Window, MonthlyCounts] = {}

    async def start(self, now: float) -> None:
        """Take up the monthly counts. Raises: StoreUnavailableError."""
        self._month = month_of(now)
        self._month_counts = await self._store.load_monthly_counts(self._month)

    async def flush(self, now: float) -> None:
        """Add to the store's monthly counts. Raises: StoreUnavailableError; then they are added the next time."""
        for counts in self._monthly.values():
            await counts.flush(self._store, now)

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
        if window in self._windows:
            self._windows[window].forget(key)

    async def standings(self, hits: Sequence[Hit], now: float) -> list[CounterStanding]:
        """Return how these keys stand."""
        found = [(window, key, self._counts_of(window)) for window, key in hits]
        return [
            CounterStanding(window, counts.remaining(key, now), counts.reset_at(key, now))
            for window, key, counts in found
        ]

    def _counts_of(self, window: Window) -> RollingWindow | QuietWindow | MonthlyCounts:
        if window.monthly:
            if window not in self._monthly:
                self._monthly[window] = MonthlyCounts(window.limit, self._month, self._month_counts)
            return self._monthly[window]
        counts = self._windows.get(window)
        if counts is None:
            kind = QuietWindow if window.until_quiet else RollingWindow
            counts = self._windows[window] = kind(window.limit, window.seconds)
        return counts
