"""Calendar months, in UTC."""

from datetime import UTC, datetime


def month_of(now: float) -> str:
    """Return the month as `YYYY-MM`."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def next_month_at(now: float) -> int:
    """Return when the next month begins, in Unix seconds."""
    today = datetime.fromtimestamp(now, UTC)
    year, month = (today.year + 1, 1) if today.month == 12 else (today.year, today.month + 1)
    return int(datetime(year, month, 1, tzinfo=UTC).timestamp())
