"""How a field is noted, and notes that several models share."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from reflecto.api.fields import patterns
from reflecto.contract import limits, tokens
from reflecto.contract.ids import IdPrefix

Notes = Mapping[type[msgspec.Struct], Mapping[str, Mapping[str, Any]]]

HEX_DIGITS: Final = "0123456789abcdef" * 2
KEY_EXAMPLE: Final = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="  # of RFC 7748 6.1
SIGNATURE_EXAMPLE: Final = "A" * 86 + "=="
# Of RFC 8291, appendix A.
PUSH_KEY_EXAMPLE: Final = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
PUSH_SECRET_EXAMPLE: Final = "BTBZMqHH6r4Tts7J_aSIgg"
TIME: Final = 1754800000
REMINDER_EXAMPLE: Final = "2025-08-10T09:00:00+02:00"  # served as a day that is still to come


def note(description: str, example: Any, **schema: Any) -> dict[str, Any]:
    """Return what is added to a field's schema."""
    return {"description": description, "examples": [example], **schema}


def an_id(prefix: IdPrefix, description: str) -> dict[str, Any]:
    """Return the note of an id."""
    return note(description, f"{prefix}_{HEX_DIGITS}", pattern=f"^{prefix}_[0-9a-f]{{32}}$")


def of_32_bytes(description: str) -> dict[str, Any]:
    """Return the note of a key, a proof or a nonce."""
    return note(f"{description}: 32 bytes in base64", KEY_EXAMPLE, pattern=patterns.BASE64_OF_32_BYTES)


def a_signature(description: str) -> dict[str, Any]:
    """Return the note of an Ed25519 signature."""
    return note(f"{description}, base64", SIGNATURE_EXAMPLE, pattern=patterns.BASE64_OF_64_BYTES)


def a_time(description: str, offset_seconds: int = 0) -> dict[str, Any]:
    """Return the note of an instant."""
    return note(f"{description}, in Unix seconds", TIME + offset_seconds)


def text_of_bytes(description: str, example: str, max_bytes: int) -> dict[str, Any]:
    """Return the note of a text bounded in bytes: JSON Schema counts characters, of which there are never more."""
    return note(f"{description}; 1 to {max_bytes} bytes of UTF-8", example, minLength=1, maxLength=max_bytes)


def web_url(description: str, max_bytes: int = limits.URL_MAX_BYTES) -> dict[str, Any]:
    """Return the note of a web address."""
    note_ = text_of_bytes(f"{description}; http or https", "https://ci.example/runs/42", max_bytes)
    return {**note_, "format": "uri", "pattern": patterns.WEB_URL}


WARNINGS = note("What was accepted but not done as asked", [])
DELIVERED_TO = note(
    "The devices whose queue holds it durably",
    [{"device_id": f"dev_{HEX_DIGITS}", "type": "android"}],
)
SELECTOR = note(
    "`all`, `phone` (or `mobile`), `desktop`, a device's label or id, or several of these with commas between; "
    "a name that no device has becomes a warning",
    "phone",
    minLength=1,
    maxLength=limits.SELECTOR_MAX_CHARS,
    pattern=patterns.NAMES_SOMETHING,
)
DEVICE_LABEL = note("The device's name, for people", "Pixel 9")
DEVICE_TYPE = note("What kind of device it is", "android", enum=["android", "extension", "web", "cli"])
DEVICE_CLASS = note("Phones are asked; desktops are only told", "phone", enum=["phone", "desktop"])
APP_BUILD = note("The app's build number; null: never reported", 42)
FEATURES = note(
    "What its app knows, such as `emergency`; names that the server does not know are kept too", ["emergency"]
)
TOKEN_LABEL = note("The token's name; devices show it as the sender", "CI")
PRIORITY_CAP = note(
    "Higher priorities are refused; null: no cap", "high", enum=[*tokens.PRIORITIES, None], type=["string", "null"]
)
SCOPES = note("What it may do; default: everything", ["send", "ask"])
TEST = note("A test token: all is checked and counted, nothing reaches a device", False)
CHOICE_INDEX = note("The place of the choice in `choices`, from 0", 0)
