"""Lengths of time and moments on the command line."""

import re
from datetime import datetime, timedelta
from typing import Final

import click

_UNIT_SECONDS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LENGTH: Final = re.compile(r"(?=\d)(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?", re.ASCII)
_LENGTH_CHARS_MAX: Final = 20  # far beyond any length of time a server takes

_UNIX: Final = re.compile(r"[0-9]{9,11}")
_CLOCK: Final = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?")
_DATE_AND_CLOCK: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(\S*)")
_OFFSET: Final = re.compile(r"[Zz]|[+-][0-9]{2}:[0-9]{2}")
_FORMS: Final = "18:30, 2026-08-10 18:30, 2026-08-10T18:30:00+02:00 or Unix seconds"


def duration_seconds(text: str) -> int:
    """Return the whole seconds that 90, 90s, 10m, 1h30m or 1d mean, as the `type` of an option.

    Raises: click.BadParameter.
    """
    written = text.strip().lower()[:_LENGTH_CHARS_MAX]
    if re.fullmatch(r"\d+", written, re.ASCII):
        return int(written)
    match = _LENGTH.fullmatch(written)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a length of time such as 90, 90s, 10m, 1h30m or 1d")
    return sum(int(match[unit] or 0) * size for unit, size in _UNIT_SECONDS.items())


def unix_seconds(text: str, now: float) -> int:
    """Return the Unix seconds that an option means. `now` is Unix seconds.

    Without an offset it is this machine's local time; a clock time alone is the next time the clock shows it.
    What the clock shows twice or never, because it is changed then, is refused.

    Raises: click.UsageError.
    """
    written = text.strip()
    if _UNIX.fullmatch(written):
        return int(written)
    try:
        if _CLOCK.fullmatch(written):
            return _next(written, now)
        match = _DATE_AND_CLOCK.fullmatch(written)
        if match and not match[3]:
            return _local(datetime.fromisoformat(f"{match[1]} {match[2]}"), text)
        if match and _OFFSET.fullmatch(match[3]):
            return int(datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3].upper()}").timestamp())
    except (ValueError, OverflowError):
        pass  # a day or an hour that there is not
    raise click.UsageError(f"--at {text!r} is not a moment such as {_FORMS}")


def _next(clock: str, now: float) -> int:
    today = datetime.fromtimestamp(now)  # noqa: DTZ006 -- local time is what was meant
    hour, minute, *rest = (int(part) for part in clock.split(":"))
    moment = today.replace(hour=hour, minute=minute, second=rest[0] if rest else 0, microsecond=0, fold=0)
    if moment.replace(fold=1).timestamp() <= now:
        moment += timedelta(days=1)
    return _local(moment, clock)


def _local(moment: datetime, written: str) -> int:
    first, second = (moment.replace(fold=fold).timestamp() for fold in (0, 1))
    if first != second:
        raise click.UsageError(
            f"--at {written!r}: the clocks are changed then, so that it is no moment or two; write it with its offset,"
            " such as 2026-10-25T02:30:00+01:00"
        )
    return int(first)
