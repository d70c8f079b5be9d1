"""Calendar months, in UTC."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_DAY_SECONDS: Final = 86_400


def month_of(now: float) -> str:
    """Return the month as `YYYY-MM`."""
    return _month_of_day(int(now // _DAY_SECONDS))


def next_month_at(now: float) -> int:
    """Return when the next month begins, in Unix seconds."""
    today = datetime.fromtimestamp(now, UTC)
    year, month = (today.year + 1, 1) if today.month == 12 else (today.year, today.month + 1)
    return int(datetime(year, month, 1, tzinfo=UTC).timestamp())


@lru_cache(maxsize=4)  # asked several times a request, and written out once a day
def _month_of_day(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY_SECONDS, UTC).strftime("%Y-%m")
