"""Lengths of time on the command line."""

import re
from typing import Final

import click

_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM: Final = re.compile(r"(?=\d)(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?", re.ASCII)
_CHARS_MAX: Final = 20  # far beyond any length of time a server takes


def duration_seconds(text: str) -> int:
    """Return the whole seconds that 90, 90s, 10m, 1h30m or 1d mean, as the `type` of an option.

    Raises: click.BadParameter.
    """
    written = text.strip().lower()[:_CHARS_MAX]
    if re.fullmatch(r"\d+", written, re.ASCII):
        return int(written)
    match = _FORM.fullmatch(written)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a length of time such as 90, 90s, 10m, 1h30m or 1d")
    return sum(int(match[unit] or 0) * size for unit, size in _UNITS.items())
