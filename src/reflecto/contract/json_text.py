"""JSON that somebody else wrote: read into a model, or strictly into an object, or refused."""

import json
from typing import Any, Final, TypeVar

import msgspec

from reflecto.contract.json_bodies import UnusableJsonError, check_values, decoded

T = TypeVar("T")

_WHOLE_BELOW: Final = 2.0**64  # as far as whole numbers are taken in digits


class UnreadableJsonError(ValueError):
    """It is not JSON, or not of the form expected; its text quotes nothing of it, as that may be secret."""


def read_json(text: bytes | str, model: type[T]) -> T:
    """Return the JSON as `model`.

    Refused are also half a pair of surrogates, NaN, numbers that no float holds, and nesting so deep that the parser
    gives up, which Python reports as a RecursionError of its own.

    Raises: UnreadableJsonError.
    """
    try:
        return msgspec.json.decode(text, type=model)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, as those of wrong encodings
        raise UnreadableJsonError("not the JSON expected") from None


def parse_strictly(body: bytes) -> dict[str, Any]:
    """Return one JSON object.

    Refused: anything but strict UTF-8 JSON, a key given twice, lone surrogates, NaN, numbers beyond 64 bits and nesting
    deeper than the parser allows. A whole number may be written 600.0. Raises: UnusableJsonError.
    """
    text = decoded(body)
    check_values(text)
    try:
        msgspec.json.decode(text)  # strict where json.loads is not: surrogates, NaN, number range
        parsed = json.loads(text, object_pairs_hook=unique_pairs, parse_float=_whole_if_possible)
    except UnusableJsonError:
        raise
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        raise UnusableJsonError("is not JSON") from None
    if not isinstance(parsed, dict):
        raise UnusableJsonError("is not an object")
    return parsed


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's fields. Raises: UnusableJsonError where a key is given twice."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise UnusableJsonError(f"has the key {name[:40]!r} twice")
            seen.add(name)
    return fields


def _whole_if_possible(digits: str) -> int | float:
    number = float(digits)
    # 1e308 has 309 digits as a whole number, and each field refuses it as either.
    return int(number) if number.is_integer() and abs(number) < _WHOLE_BELOW else number
