"""Counts per token and calendar month, in the memory of one process: written now and then, never once a request."""

from collections import Counter
from collections.abc import Mapping

from reflecto.core.ports.store import Store
from reflecto.core.rules.months import month_of, next_month_at


class MonthlyCounts:
    """What each token sent this month: `counts` as the store had them for `month`, and what has come since."""

    def __init__(self, limit: int, month: str = "", counts: Mapping[str, int] | None = None) -> None:
        self.limit = limit
        self._month = month
        self._counts = dict(counts or {})
        self._unwritten: Counter[str] = Counter()

    async def flush(self, store: Store, now: float) -> None:
        """Add to the store's counts what has come. Raises: StoreUnavailableError; then it is added the next time."""
        self._turn(now)
        if not self._unwritten:
            return
        month, taken = self._month, self._unwritten
        self._unwritten = Counter()  # what is counted from here on, while the write is under way, is for the next one
        try:
            await store.add_monthly_counts(month, {token_id: count for token_id, count in taken.items() if count})
        except BaseException:
            if self._month == month:
                self._unwritten.update(taken)
            raise

    def remaining(self, token_id: str, now: float) -> int:
        """Return how often the token may still send this month."""
        self._turn(now)
        return max(0, self.limit - self._counts.get(token_id, 0))

    def add(self, token_id: str, now: float) -> None:
        """Count one."""
        self._turn(now)
        self._counts[token_id] = self._counts.get(token_id, 0) + 1
        self._unwritten[token_id] += 1

    def take_back(self, token_id: str, when: float) -> None:
        """Uncount one that was counted at `when`, unless its month is over."""
        if month_of(when) == self._month and self._counts.get(token_id):
            self._counts[token_id] -= 1
            self._unwritten[token_id] -= 1

    def reset_at(self, _token_id: str, now: float) -> int:
        """Return when the next month begins."""
        return next_month_at(now)

    def _turn(self, now: float) -> None:
        if month_of(now) != self._month:
            self._month = month_of(now)
            self._counts.clear()
            self._unwritten.clear()
