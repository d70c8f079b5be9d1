"""JSON from outside, bounded before it is parsed: what parses into many values takes a hundred times its own length."""

import json
import re
from typing import Any, Final

import msgspec

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


def parse_strictly(body: bytes) -> dict[str, Any]:
    """Return one JSON object.

    Refused: anything but strict UTF-8 JSON, a key given twice, lone surrogates, NaN, numbers beyond 64 bits and nesting
    deeper than the parser allows. A whole number may be written 600.0. Raises: UnusableJsonError.
    """
    text = decoded(body)
    check_values(text)
    try:
        msgspec.json.decode(text)  # strict where json.loads is not: surrogates, NaN, number range
        parsed = json.loads(text, object_pairs_hook=_unique_pairs, parse_float=_whole_if_possible)
    except UnusableJsonError:
        raise
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        raise UnusableJsonError("is not JSON") from None
    if not isinstance(parsed, dict):
        raise UnusableJsonError("is not an object")
    return parsed


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


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise UnusableJsonError(f"has the key {twice[:40]!r} twice")
    return fields


def _whole_if_possible(digits: str) -> int | float:
    number = float(digits)
    return int(number) if number.is_integer() else number
