"""JSON from outside, bounded before it is parsed: what parses into many values takes a hundred times its own length."""

import re
from typing import Final

from reflecto.contract.limits import JSON_VALUES_MAX

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"  # PowerShell and Notepad put it before a text; it belongs to no text
_MARKS: Final = ('"', "[", "{", ",")
# From 1e289 on, msgspec takes some 20 µs for a number in place of 0.1: each counts as so many values.
_LARGE_NUMBER_VALUES: Final = 25
_LARGE_NUMBERS: Final = ("e2", "e3", "e+", "e0", "E2", "E3", "E+", "E0")
_LARGE_NUMBER: Final = re.compile(r"[eE]\+?0*[23][0-9]{2}")


class UnusableJsonError(ValueError):
    """The JSON is refused; the message says why, as the end of a sentence about the body."""


def without_mark(body: bytes) -> bytes:
    """Return a text's bytes without the byte order mark that some programs put before it."""
    return body.removeprefix(_BYTE_ORDER_MARK)


def decoded(body: bytes) -> str:
    """Return JSON's text. Raises: UnusableJsonError."""
    try:
        return without_mark(body).decode("utf-8")
    except UnicodeDecodeError:
        raise UnusableJsonError("is not UTF-8") from None


def check_values(text: str) -> None:
    """Refuse JSON of more than JSON_VALUES_MAX values before it is parsed. Raises: UnusableJsonError."""
    # First what is fast, and counts the marks inside texts too.
    most = sum(map(text.count, _MARKS)) + _LARGE_NUMBER_VALUES * sum(map(text.count, _LARGE_NUMBERS))
    if most > JSON_VALUES_MAX and _values_of(text) > JSON_VALUES_MAX:
        raise UnusableJsonError(f"has more than {JSON_VALUES_MAX:,} values")


def _values_of(text: str) -> int:
    """Return how many marks begin or divide values, or one more than the bound if that is exceeded."""
    plain = text.replace("\\\\", "").replace('\\"', "")  # what is escaped ends no text
    if plain.count('"') > 2 * JSON_VALUES_MAX:
        return JSON_VALUES_MAX + 1
    around = plain.split('"')[::2]  # the texts
    bare = " ".join(around)
    large = _LARGE_NUMBER_VALUES * len(_LARGE_NUMBER.findall(bare))
    return len(around) - 1 + sum(map(bare.count, "[{,")) + large
