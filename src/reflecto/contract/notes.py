"""What a field's type cannot say: its meaning, an example, and bounds that are checked elsewhere.

A note stands in the field's `Annotated`; msgspec passes over it and `api.schemas` adds it to the schema that msgspec
draws. Modules of models postpone their annotations (PEP 563): a program that never draws a schema makes no notes.
"""

from typing import Any, Final

from reflecto.contract import limits, patterns
from reflecto.contract.ids import IdPrefix

HEX_DIGITS: Final = "0123456789abcdef" * 2
KEY_EXAMPLE: Final = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="  # of RFC 7748 6.1
SIGNATURE_EXAMPLE: Final = "A" * 86 + "=="
TIME: Final = 1754800000


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
    return note(f"{description}: 32 bytes in base64", KEY_EXAMPLE, pattern=patterns.BASE64_OF_32_BYTES)


def a_signature(description: str) -> Note:
    """Return the note of an Ed25519 signature."""
    return note(f"{description}, base64", SIGNATURE_EXAMPLE, pattern=patterns.BASE64_OF_64_BYTES)


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


def web_url(description: str, max_bytes: int = limits.URL_MAX_BYTES) -> Note:
    """Return the note of a web address."""
    example = "https://ci.example/runs/42"
    return text_of_bytes(f"{description}; http or https", example, max_bytes, format="uri", pattern=patterns.WEB_URL)
