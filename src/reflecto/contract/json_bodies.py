"""JSON from outside, bounded before it is parsed: what parses into many values takes a hundred times its own length."""

from typing import Final

from reflecto.contract.limits import JSON_VALUES_MAX

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"  # PowerShell and Notepad put it before a text; it belongs to no text
_MARKS: Final = ('"', "[", "{", ",")


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
    if sum(map(text.count, _MARKS)) > JSON_VALUES_MAX and _values_of(text) > JSON_VALUES_MAX:
        raise UnusableJsonError(f"has more than {JSON_VALUES_MAX:,} values")


def _values_of(text: str) -> int:
    """Return how many marks begin or divide values, or one more than the bound if that is exceeded."""
    plain = text.replace("\\\\", "").replace('\\"', "")  # what is escaped ends no text
    if plain.count('"') > 2 * JSON_VALUES_MAX:
        return JSON_VALUES_MAX + 1
    around = plain.split('"')[::2]  # the texts
    return len(around) - 1 + sum(map("".join(around).count, "[{,"))
