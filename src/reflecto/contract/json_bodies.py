"""JSON from outside, bounded before it is parsed: what parses into many values takes a hundred times its own length."""

import json
import re
from typing import Final

from reflecto.contract.limits import JSON_VALUES_MAX

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"  # PowerShell and Notepad put it before a text; it belongs to no text
_LENIENT: Final = json.JSONDecoder(strict=False)
_MARKS: Final = ('"', "[", "{", ",")
_MARK: Final = re.compile(r'["\[{,]')


class UnusableJsonError(ValueError):
    """It is not what it has to be; the message says why, as the end of a sentence about the body."""


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
    if sum(map(text.count, _MARKS)) > JSON_VALUES_MAX and _values_of(text) > JSON_VALUES_MAX:
        raise UnusableJsonError(f"has more than {JSON_VALUES_MAX:,} values")


def _values_of(text: str) -> int:
    """Return how many marks begin or divide values, or one more than the bound if that is exceeded."""
    values = position = 0
    find = _MARK.search
    while values <= JSON_VALUES_MAX and (mark := find(text, position)):
        values += 1
        position = mark.end()
        if text[position - 1] == '"':
            position = _end_of_string(text, position - 1)
    return values


def _end_of_string(text: str, start: int) -> int:
    try:
        return _LENIENT.raw_decode(text, start)[1]
    except ValueError:
        raise UnusableJsonError("is not JSON") from None
