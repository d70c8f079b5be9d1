"""JSON that somebody else wrote, read in one way: into a model, or refused with one error whatever is wrong with it."""

from typing import TypeVar

import msgspec

T = TypeVar("T")


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
