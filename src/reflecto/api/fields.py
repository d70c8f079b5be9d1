"""What the wire models' types cannot say: each field's meaning, an example, and bounds checked elsewhere.

`api.openapi` adds these to the schemas it draws from the models. A test walks both ways: no field without its note,
no note without its field.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from reflecto.contract import devices, interactions, limits, messages, tokens
from reflecto.contract.ids import IdPrefix

Notes = Mapping[type[msgspec.Struct], Mapping[str, Mapping[str, Any]]]

HEX_DIGITS: Final = "0123456789abcdef" * 2
KEY_EXAMPLE: Final = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="  # of RFC 7748 6.1
SIGNATURE_EXAMPLE: Final = "A" * 86 + "=="
# Of RFC 8291, appendix A.
PUSH_KEY_EXAMPLE: Final = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
PUSH_SECRET_EXAMPLE: Final = "BTBZMqHH6r4Tts7J_aSIgg"
WEB_URL_PATTERN: Final = "^[Hh][Tt][Tt][Pp][Ss]?://"
_TIME: Final = 1754800000


def note(description: str, example: Any, **schema: Any) -> dict[str, Any]:
    """Return what is added to a field's schema."""
    return {"description": description, "examples": [example], **schema}


def an_id(prefix: IdPrefix, description: str) -> dict[str, Any]:
    """Return the note of an id."""
    return note(description, f"{prefix}_{HEX_DIGITS}", pattern=f"^{prefix}_[0-9a-f]{{32}}$")


def a_time(description: str, offset_seconds: int = 0) -> dict[str, Any]:
    """Return the note of an instant."""
    return note(f"{description}, in Unix seconds", _TIME + offset_seconds)


def text_of_bytes(description: str, example: str, max_bytes: int) -> dict[str, Any]:
    """Return the note of a text bounded in bytes: JSON Schema counts characters, of which there are never more."""
    return note(f"{description}; 1 to {max_bytes} bytes of UTF-8", example, minLength=1, maxLength=max_bytes)


def web_url(description: str, max_bytes: int = limits.URL_MAX_BYTES) -> dict[str, Any]:
    """Return the note of a web address."""
    note_ = text_of_bytes(f"{description}; http or https", "https://ci.example/runs/42", max_bytes)
    return {**note_, "format": "uri", "pattern": WEB_URL_PATTERN}


_WARNINGS = note("What was accepted but not done as asked", [])
_DELIVERED_TO = note(
    "The devices whose queue holds it durably",
    [{"device_id": f"dev_{HEX_DIGITS}", "type": "android"}],
)
_SELECTOR = note(
    "`all`, `phone` (or `mobile`), `desktop`, a device's label or id, or several of these with commas between; "
    "a name that no device has becomes a warning",
    "phone",
    minLength=1,
)
_DEVICE_LABEL = note("The device's name, for people", "Pixel 9")
_DEVICE_TYPE = note("What kind of device it is", "android", enum=["android", "extension", "web", "cli"])
_DEVICE_CLASS = note("Phones are asked; desktops are only told", "phone", enum=["phone", "desktop"])
_APP_BUILD = note("The app's build number; null: never reported", 42)
_TOKEN_LABEL = note("The token's name; devices show it as the sender", "CI")
_PRIORITY_CAP = note(
    "Higher priorities are refused; null: no cap", "high", enum=[*tokens.PRIORITIES, None], type=["string", "null"]
)
_SCOPES = note("What it may do; default: everything", ["send", "ask"])
_TEST = note("A test token: all is checked and counted, nothing reaches a device", False)
_CHOICE_INDEX = note("The place of the choice in `choices`, from 0", 0)

_QUESTIONS: Final[Notes] = {
    interactions.CreateInteractionRequest: {
        "question": note(
            "What to ask; counted in characters (code points), not blank", "Deploy build 42 to production?"
        ),
        "choices": note(
            f"The labels to choose from, each 1 to {limits.CHOICE_MAX_CHARS} characters, not blank and no two alike",
            ["Approve", "Deny"],
        ),
        "expires_in": note("How long it may be answered, in seconds", 600),
        "idempotency_key": note("Makes a retry find the first try, whatever else it asks", "deploy-42"),
    },
    interactions.CreateInteractionResponse: {
        "id": an_id("int", "The question's id"),
        "expires_at": note("Unix epoch seconds", _TIME + 600),
    },
    interactions.AnsweredBy: {
        "device_id": an_id("dev", "The device's id"),
        "label": _DEVICE_LABEL,
    },
    interactions.Receipt: {
        "device_id": an_id("dev", "The device that signed"),
        "signing_key": note("Its Ed25519 public key, base64", KEY_EXAMPLE),
        "choice_index": _CHOICE_INDEX,
        "answered_at": a_time("The phone's own clock, as it was signed", 42),
        "signature": note("Ed25519 over the answer message, base64", SIGNATURE_EXAMPLE),
    },
    interactions.InteractionState: {
        "id": an_id("int", "The question's id"),
        "status": note(
            "Only `answered` is an answer; silence never is",
            "answered",
            enum=["pending", "answered", "expired", "cancelled"],
        ),
        "question": note("What was asked", "Deploy build 42 to production?"),
        "choices": note("The labels, as they were given", ["Approve", "Deny"]),
        "choice": note("The chosen label; null unless answered", "Approve"),
        "choice_index": note("The place of `choice` in `choices`, from 0; null unless answered", 0),
        "created_at": a_time("When it was asked"),
        "expires_at": a_time("When it stops being open", 600),
        "answered_at": note("When the answer was recorded, in Unix seconds; null unless answered", _TIME + 42),
        "answered_by": {"description": "The device whose tap won; null unless a device answered"},
        "receipt": {"description": "What proves the tap; null unless the device signed"},
    },
    interactions.SimulateRequest: {"choice": note("One of the question's choices, to the letter", "Approve")},
    interactions.AnswerRequest: {
        "choice_index": _CHOICE_INDEX,
        "answered_at": a_time("The phone's clock", 42),
        "signature": note("Ed25519 over the answer message, base64", SIGNATURE_EXAMPLE),
    },
    interactions.AnswerResponse: {
        "id": an_id("int", "The question's id"),
        "status": note("It is answered", "answered"),
        "choice_index": _CHOICE_INDEX,
        "answered_at": a_time("When the answer was recorded", 42),
    },
}

_SENDING: Final[Notes] = {
    messages.Action: {
        "label": text_of_bytes("What the button says", "Open the log", limits.ACTION_LABEL_MAX_BYTES),
        "url": web_url("What it opens"),
    },
    messages.SendRequest: {
        "message": text_of_bytes("What to say", "Backup finished", limits.MESSAGE_MAX_BYTES),
        "title": text_of_bytes("A line above it", "nas", limits.TITLE_MAX_BYTES),
        "priority": note("How much it may disturb", "default", enum=list(tokens.PRIORITIES)),
        "tags": note(
            f"At most {limits.TAGS_MAX} short labels of {limits.TAG_MAX_BYTES} bytes; more or longer ones are trimmed "
            "with a warning",
            ["backup"],
        ),
        "url": web_url("What a tap opens"),
        "url_title": text_of_bytes("What the link says; only with `url`", "Run 42", limits.URL_TITLE_MAX_BYTES),
        "actions": {"description": "Buttons that open a page", "maxItems": limits.ACTIONS_MAX},
        "device": _SELECTOR,
        "markdown": note("The message is Markdown; raw HTML in it is shown, never run", False),
        "ttl": note(
            "Seconds the message waits for a device that is offline: floored, then clamped to 0 to "
            f"{limits.TTL_MAX_SECONDS}; 0: only devices connected now; default: {limits.TTL_MAX_SECONDS}",
            3600,
        ),
    },
    messages.Caveat: {
        "code": note("What it is, for programs", "unknown_device"),
        "message": note("The same for people", "No device is called 'Tablet'"),
    },
    messages.DeliveredTo: {"device_id": an_id("dev", "The device's id"), "type": _DEVICE_TYPE},
    messages.SendResponse: {
        "id": an_id("msg", "The message's id"),
        "delivered_to": _DELIVERED_TO,
        "warnings": _WARNINGS,
    },
    messages.DocumentRequest: {
        "filename": note(
            "A plain name without folders that ends in a plain-text extension, never one that a tap would run",
            "report.md",
            minLength=1,
            maxLength=limits.FILENAME_MAX_CHARS,
        ),
        "content": note(
            f"The text; at most {limits.DOCUMENT_MAX_BYTES} bytes of UTF-8",
            "# Nightly report\n\nAll green.\n",
            minLength=1,
        ),
        "title": text_of_bytes("A line above the file's name", "Nightly report", limits.TITLE_MAX_BYTES),
        "device": _SELECTOR,
    },
    messages.DocumentResponse: {
        "document_id": an_id("doc", "The document's id"),
        "byte_length": note("The content's length in bytes of UTF-8", 30),
        "delivered_to": _DELIVERED_TO,
        "warnings": _WARNINGS,
    },
    messages.RingRequest: {
        "duration": note("How long it sounds, in seconds", 30),
        "message": text_of_bytes("What to show meanwhile", "Where are you?", limits.MESSAGE_MAX_BYTES),
    },
    messages.ReminderRequest: {
        "message": note("What to be reminded of; counted in characters", "Stand-up"),
        "at": note(
            f"When: Unix seconds, or RFC 3339 with an offset; {limits.REMINDER_MIN_AHEAD_SECONDS} seconds to 365 days "
            "ahead",
            "2025-08-10T09:00:00+02:00",
        ),
        "title": text_of_bytes("A line above it", "Work", limits.TITLE_MAX_BYTES),
        "device": _SELECTOR,
    },
    messages.ReminderResponse: {
        "reminder_id": an_id("rem", "The reminder's id"),
        "fire_at": a_time("When it will come", 3600),
        "warnings": _WARNINGS,
    },
    messages.ReminderState: {
        "reminder_id": an_id("rem", "The reminder's id"),
        "message": note("What to be reminded of", "Stand-up"),
        "title": note("A line above it", "Work"),
        "fire_at": a_time("When it will come", 3600),
        "created_at": a_time("When it was set"),
    },
    messages.ReminderList: {"reminders": {"description": "The next one first"}},
}

_DEVICES: Final[Notes] = {
    devices.EnrollRequest: {
        "code": note("The setup code; case, spaces and dashes do not matter", "7F3K-Q2MA-9XTB-W4HD"),
        "public_key": note("The device's X25519 public key: 32 bytes in base64", KEY_EXAMPLE),
        "signing_key": note("Its Ed25519 public key: 32 bytes in base64", KEY_EXAMPLE),
        "label": _DEVICE_LABEL,
        "type": _DEVICE_TYPE,
        "class": _DEVICE_CLASS,
        "app_build": _APP_BUILD,
    },
    devices.EnrollResponse: {
        "owner_id": an_id("own", "Whose device it now is"),
        "device_id": an_id("dev", "The device's id"),
        "device_token": note("Its own token, shown this once", "rfd_live_…", pattern="^rfd_live_[A-Za-z0-9]{32}$"),
        "server_key": note("The server's X25519 public key, base64", KEY_EXAMPLE),
        "default_token": {"description": "The owner's first sender token, shown this once; null when joining an owner"},
    },
    devices.InvitationResponse: {
        "code": note("The setup code; works once", "7F3K-Q2MA-9XTB-W4HD"),
        "url": note(
            "A link that carries the code in its fragment", "https://reflecto.example/enroll#7F3K-Q2MA-9XTB-W4HD"
        ),
        "expires_at": a_time("When it stops working", 600),
    },
    devices.DeviceState: {
        "device_id": an_id("dev", "The device's id"),
        "label": _DEVICE_LABEL,
        "type": _DEVICE_TYPE,
        "class": _DEVICE_CLASS,
        "reachable": note("A stream of it is open now", True),
        "last_seen_at": note("When it last called, in Unix seconds; null: never", _TIME),
        "app_build": _APP_BUILD,
    },
    devices.DeviceList: {"devices": {"description": "All devices of the owner"}},
    devices.UpdateDeviceRequest: {
        "label": _DEVICE_LABEL,
        "app_build": note("The app's build number", 42),
        "push": {"description": "Where pushes reach the device; null: nowhere"},
    },
    devices.PushKeyResponse: {
        "public_key": note("The `applicationServerKey`: a P-256 public key in base64url", PUSH_KEY_EXAMPLE)
    },
    devices.PushState: {
        "endpoint": note("The push service's address for this device", "https://push.example/send/abc"),
        "keys": {"description": "What pushes are encrypted for"},
    },
    devices.PushKeys: {
        "p256dh": note("A P-256 public key: 65 bytes in base64url", PUSH_KEY_EXAMPLE),
        "auth": note("A secret: 16 bytes in base64url", PUSH_SECRET_EXAMPLE),
    },
    devices.SyncEntry: {
        "seq": note("The entry's number in this device's queue; rises strictly", 7),
        "from": note("The id of the device that sent it, or `server`", "server"),
        "blob": note("The wire blob, base64", "AaWf…"),
        "expires_at": a_time("When it is dropped", limits.QUEUE_TTL_MAX_SECONDS),
    },
    devices.SyncPage: {"entries": {"description": "In order; empty when nothing waits"}},
    devices.AckRequest: {"seq": note("The device has everything up to this number", 7)},
    tokens.CreateTokenRequest: {
        "label": _TOKEN_LABEL,
        "priority_cap": _PRIORITY_CAP,
        "scopes": {**_SCOPES, "uniqueItems": True},
        "test": _TEST,
    },
    tokens.NewToken: {
        "id": an_id("tok", "The token's id"),
        "label": _TOKEN_LABEL,
        "token": note("The token itself, shown this once", "rfk_live_…", pattern="^rfk_(live|test)_[A-Za-z0-9]{32}$"),
    },
    tokens.TokenState: {
        "id": an_id("tok", "The token's id"),
        "label": _TOKEN_LABEL,
        "test": _TEST,
        "priority_cap": _PRIORITY_CAP,
        "scopes": _SCOPES,
        "created_at": a_time("When it was made"),
        "last_used_at": note("When it was last used, in Unix seconds, up to a minute behind; null: never", _TIME),
    },
    tokens.TokenLabel: {"id": an_id("tok", "The token's id"), "label": _TOKEN_LABEL},
    tokens.TokenList: {"tokens": {"description": "The oldest first"}},
    tokens.TokenLabelList: {"tokens": {"description": "The oldest first"}},
}

NOTES: Final[Notes] = {**_QUESTIONS, **_SENDING, **_DEVICES}
