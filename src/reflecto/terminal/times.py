"""Times as a terminal shows them: how long there is left, and when something was."""

from datetime import datetime


def duration(seconds: float) -> str:
    """Return a time span the way a clock counts it down: `9:41`, or `1:02:03` from an hour on."""
    whole = max(0, int(-(-seconds // 1)))  # rounded up: 0:00 means over
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def local_time(unix: int) -> str:
    """Return a moment as this machine's clock shows it."""
    try:
        return datetime.fromtimestamp(unix).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # further away than calendars go
        return f"Unix time {unix}"
