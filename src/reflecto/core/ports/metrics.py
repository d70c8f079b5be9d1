"""What a process counts of its own work since it began, for whoever watches it.

Everything is added on the event loop, so nothing here needs a lock. Labels are few and known beforehand (routes,
statuses, outcomes): never an id, an address or anything that a caller makes up.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

Labels = tuple[str, ...]

# Upper bounds, in seconds: from a commit on a fast disk to a request that gives up.
SECONDS_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
VERBS_BOUNDS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Counter:
    """How often something happened, by labels."""

    __slots__ = ("by_labels",)

    def __init__(self) -> None:
        self.by_labels: dict[Labels, int] = {}

    def add(self, *labels: str) -> None:
        """Count one."""
        self.by_labels[labels] = self.by_labels.get(labels, 0) + 1


class Histogram:
    """How values spread: `counts` has how many were above each of `bounds`, which rise, and not above the next."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0  # of all values

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class StoreWork:
    """The store's transactions: how many verbs each had, how long it took until it was durable, and what went wrong.

    `errors` are by `failed` (nothing of it happened), `conflict` (another transaction was in the way) and
    `connection_lost`; after the last two it is done again.
    """

    __slots__ = ("errors", "seconds", "verbs")

    def __init__(self) -> None:
        self.verbs = Histogram(VERBS_BOUNDS)
        self.seconds = Histogram(SECONDS_BOUNDS)
        self.errors = Counter()

    def add_commit(self, verbs: int, seconds: float) -> None:
        """Count a transaction that is durable."""
        self.verbs.add(verbs)
        self.seconds.add(seconds)
