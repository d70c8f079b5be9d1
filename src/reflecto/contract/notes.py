"""What a field's type cannot say: its meaning, an example, and bounds that are checked elsewhere.

A note stands in the field's `Annotated`; msgspec passes over it and `api.schemas` adds it to the schema that msgspec
draws. Modules of models postpone their annotations (PEP 563): a program that never draws a schema makes no notes.
"""

from typing import Any, Final

from reflecto.contract import limits
from reflecto.contract.ids import IdPrefix

HEX_DIGITS: Final = "0123456789abcdef" * 2
KEY_EXAMPLE: Final = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="  # of RFC 7748 6.1
SIGNATURE_EXAMPLE: Final = "A" * 86 + "=="
TIME: Final = 1754800000

# What the server takes, as far as a regular expression can say it: never less than it takes. They keep to what
# ECMAScript, Python and RE2 read alike: no look-ahead, no flags, no names of character classes.
# The last character before the padding of canonical base64 carries but 4 or 2 bits.
_LAST_OF_4_BITS: Final = "[AEIMQUYcgkosw048]"
_LAST_OF_2_BITS: Final = "[AQgw]"
BASE64_OF_32_BYTES: Final = f"^[A-Za-z0-9+/]{{42}}{_LAST_OF_4_BITS}=$"
BASE64_OF_64_BYTES: Final = f"^[A-Za-z0-9+/]{{85}}{_LAST_OF_2_BITS}==$"
BASE64URL_OF_16_BYTES: Final = f"^[A-Za-z0-9_-]{{21}}{_LAST_OF_2_BITS}=*$"
UNPADDED_BASE64URL_OF_16_BYTES: Final = f"^[A-Za-z0-9_-]{{21}}{_LAST_OF_2_BITS}$"
BASE64URL_OF_A_POINT: Final = f"^B[A-P][A-Za-z0-9_-]{{84}}{_LAST_OF_4_BITS}=*$"  # its first byte is 4
# A wire blob in base64: its first byte is 1, its version.
BASE64_OF_A_BLOB: Final = "^A[Q-Za-f][A-Za-z0-9+/]{2}([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
# The 16 characters of a setup code, and what stands between them; O, I and L are read as digits.
SETUP_CODE: Final = r"^[\s-]*([0-9A-TV-Za-tv-z][\s-]*){16}$"
# Not all that is refused: a host must also be one for a browser, see contract/links.py.
WEB_URL: Final = r"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\s]+([/?#][^\\\s]*)?$"
# Printable ASCII but backslash and #, and no @ in front of the path.
PUSH_ENDPOINT: Final = r'^[Hh][Tt][Tt][Pp][Ss]://[!"$-.0->A-\[\]-~]+([/?][!"$-\[\]-~]*)?$'
NAMES_SOMETHING: Final = r"[^\s,]"  # between commas
_DATE: Final = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_HOUR: Final = "([01][0-9]|2[0-3])"
DATE_TIME: Final = rf"^{_DATE}[Tt ]{_HOUR}:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]{_HOUR}:[0-5][0-9])$"
# What no system takes in a name, controls, and the commonest of the invisible, for a regular expression.
_NOT_IN_NAMES: Final = (
    r'/\\<>:"|?*\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff'
)


class Note:
    """Keywords of JSON Schema for one field. Of several notes on a field, a later one overrides the earlier."""

    __slots__ = ("schema",)

    def __init__(self, description: str | None = None, **schema: Any) -> None:
        self.schema: dict[str, Any] = schema if description is None else {"description": description, **schema}


def note(description: str, example: Any, **schema: Any) -> Note:
    """Return the note of a field with an example."""
    return Note(description, examples=[example], **schema)


def an_id(prefix: IdPrefix, description: str) -> Note:
    """Return the note of an id."""
    return note(description, f"{prefix}_{HEX_DIGITS}", pattern=f"^{prefix}_[0-9a-f]{{32}}$")


def of_32_bytes(description: str) -> Note:
    """Return the note of a key, a proof or a nonce."""
    return note(f"{description}: 32 bytes in base64", KEY_EXAMPLE, pattern=BASE64_OF_32_BYTES)


def a_signature(description: str) -> Note:
    """Return the note of an Ed25519 signature."""
    return note(f"{description}, base64", SIGNATURE_EXAMPLE, pattern=BASE64_OF_64_BYTES)


def a_device_token(description: str) -> Note:
    """Return the note of a device's token."""
    return note(description, "rfd_live_…", pattern="^rfd_live_[A-Za-z0-9]{32}$")


def a_time(description: str, offset_seconds: int = 0) -> Note:
    """Return the note of an instant."""
    return note(f"{description}, in Unix seconds", TIME + offset_seconds)


def text_of_bytes(description: str, example: str, max_bytes: int, **schema: Any) -> Note:
    """Return the note of a text bounded in bytes: JSON Schema counts characters, of which there are never more."""
    bounds = {"minLength": 1, "maxLength": max_bytes}
    return note(f"{description}; 1 to {max_bytes} bytes of UTF-8", example, **bounds, **schema)


def up_to_bytes(description: str, example: str, max_bytes: int) -> Note:
    """Return the note of a text that may be empty, bounded in bytes as `text_of_bytes` is."""
    return note(f"{description}; up to {max_bytes} bytes of UTF-8", example, maxLength=max_bytes)


def web_url(description: str, max_bytes: int = limits.URL_MAX_BYTES) -> Note:
    """Return the note of a web address."""
    example = "https://ci.example/runs/42"
    return text_of_bytes(f"{description}; http or https", example, max_bytes, format="uri", pattern=WEB_URL)


def filename_pattern() -> str:
    """Return as much of `filenames.is_safe_filename` as a schema's regular expression can say."""
    endings = "|".join(map(_in_any_case, sorted(limits.FILENAME_EXTENSIONS)))
    return rf"^[^. {_NOT_IN_NAMES}][^{_NOT_IN_NAMES}]*\.({endings})$"


def _in_any_case(word: str) -> str:
    return "".join(f"[{char.upper()}{char}]" if char.isalpha() else char for char in word)
