"""Rolling windows: how often something happened in the last so many seconds, exact to the second."""

from collections import OrderedDict, deque
from typing import Final

KEYS_MAX: Final = 50_000  # per window; the longest quiet keys are forgotten first


class _Events:
    """What one key counts: [second, count] pairs, oldest first, and their sum."""

    __slots__ = ("pairs", "total")

    def __init__(self) -> None:
        self.pairs: deque[list[int]] = deque()
        self.total = 0


class RollingWindow:
    """Counts per key, in memory. Times are Unix seconds."""

    def __init__(self, limit: int, window_seconds: int) -> None:
        self.limit = limit
        self.window_seconds = window_seconds
        self._events: OrderedDict[str, _Events] = OrderedDict()

    def remaining(self, key: str, now: float) -> int:
        """Return how often it may still happen now."""
        events = self._live(key, now)
        return max(0, self.limit - events.total) if events else self.limit

    def add(self, key: str, now: float) -> None:
        """Count one."""
        events = self._live(key, now) or self._events.setdefault(key, _Events())
        if events.pairs and events.pairs[-1][0] == int(now):
            events.pairs[-1][1] += 1
        else:
            events.pairs.append([int(now), 1])
        events.total += 1
        self._events.move_to_end(key)
        if len(self._events) > KEYS_MAX:
            self._events.popitem(last=False)

    def take_back(self, key: str, when: float) -> None:
        """Uncount one that was counted at `when`."""
        events = self._events.get(key)
        for pair in reversed(events.pairs) if events else ():
            if pair[0] == int(when) and events:
                pair[1] -= 1
                events.total -= 1
                return

    def reset_at(self, key: str, now: float) -> int:
        """Return when the oldest of what is counted leaves the window."""
        events = self._live(key, now)
        oldest = next((second for second, count in events.pairs if count), int(now)) if events else int(now)
        return oldest + self.window_seconds

    def _live(self, key: str, now: float) -> _Events | None:
        events = self._events.get(key)
        if events and events.pairs and events.pairs[-1][0] > now + self.window_seconds:
            del self._events[key]  # the clock was put back: they would count until it has caught up
            return None
        while events and events.pairs and events.pairs[0][0] <= now - self.window_seconds:
            events.total -= events.pairs.popleft()[1]
        return events
