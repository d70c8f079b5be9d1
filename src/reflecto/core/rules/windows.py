"""Windows of time: how often something happened in the last so many seconds."""

from collections import OrderedDict, deque
from typing import Final

KEYS_MAX: Final = 50_000  # per window; the longest quiet keys are forgotten first
QUIET_KEYS_MAX: Final = 10_000  # the same, of windows that end by quiet


class _Events:
    """What one key counts: [second, count] pairs, oldest first, and their sum."""

    __slots__ = ("pairs", "total")

    def __init__(self) -> None:
        self.pairs: deque[list[int]] = deque()
        self.total = 0


class RollingWindow:
    """Counts per key, exact to the second. Times are Unix seconds."""

    def __init__(self, limit: int, window_seconds: int) -> None:
        self.limit = limit
        self.window_seconds = window_seconds
        self._events: OrderedDict[str, _Events] = OrderedDict()

    def remaining(self, key: str, now: float) -> int:
        """Return how many more events of the key the window takes now, 0 or more."""
        events = self._live(key, now)
        return max(0, self.limit - events.total) if events else self.limit

    def add(self, key: str, now: float) -> None:
        """Count one event of the key at `now`."""
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

    def forget(self, key: str) -> None:
        """Uncount every event of the key."""
        self._events.pop(key, None)

    def reset_at(self, key: str, now: float) -> int:
        """Return when the oldest counted event leaves the window, in Unix seconds."""
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


class QuietWindow:
    """Counts per key that all end together, once nothing was counted for `window_seconds`. Times are Unix seconds."""

    def __init__(self, limit: int, window_seconds: int) -> None:
        self.limit = limit
        self.window_seconds = window_seconds
        self._counted: OrderedDict[str, tuple[int, float]] = OrderedDict()  # key to (count, time of the last)

    def remaining(self, key: str, now: float) -> int:
        """Return how many more events of the key the window takes now, 0 or more."""
        return max(0, self.limit - self._live(key, now)[0])

    def add(self, key: str, now: float) -> None:
        """Count one event of the key at `now`."""
        self._counted[key] = (self._live(key, now)[0] + 1, now)
        self._counted.move_to_end(key)
        if len(self._counted) > QUIET_KEYS_MAX:
            self._counted.popitem(last=False)

    def take_back(self, key: str, _when: float) -> None:
        """Uncount one event of the key."""
        count, last = self._counted.get(key, (0, 0.0))
        if count > 0:
            self._counted[key] = (count - 1, last)

    def forget(self, key: str) -> None:
        """Uncount every event of the key."""
        self._counted.pop(key, None)

    def reset_at(self, key: str, now: float) -> float:
        """Return when the count ends (Unix seconds) if nothing more is counted."""
        return self._live(key, now)[1] + self.window_seconds

    def _live(self, key: str, now: float) -> tuple[int, float]:
        count, last = self._counted.get(key, (0, now))
        return (0, now) if abs(now - last) >= self.window_seconds else (count, last)  # the clock may have been put back
