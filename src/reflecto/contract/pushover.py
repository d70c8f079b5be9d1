"""Wire models of Pushover's calls. Source: api.md "POST /v1/messages.json", neighbours.md "Pushover".

The replies are dicts in `api.pushover`; `api.operations.pushover` describes them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from msgspec import UNSET, UnsetType

from reflecto.contract import errors, limits
from reflecto.contract.notes import TIME, Note, note
from reflecto.contract.wire import Request


def _cut_text(description: str, example: str, max_chars: int, **schema: Any) -> Note:
    """Return the note of a text that is cut where it is longer than `max_chars`."""
    return note(f"{description}; longer than {max_chars} characters is cut", example, **schema)


class PushoverRequest(Request, frozen=True, kw_only=True):
    """Pushover's message. What has no type here is read kindly in `core.pushover`: it is taken or left, not refused."""

    field_errors: ClassVar = {
        "token": errors.INVALID_TOKEN,
        "message": errors.INVALID_MESSAGE,
        "title": errors.INVALID_TITLE,
        "url": errors.INVALID_URL,
        "url_title": errors.INVALID_URL_TITLE,
        "device": errors.INVALID_DEVICE,
        "priority": errors.INVALID_PRIORITY,
    }

    message: Annotated[
        str,
        _cut_text("What to say", "Backup finished", limits.PUSHOVER_MESSAGE_MAX_CHARS, minLength=1),
    ]
    token: Annotated[
        str | UnsetType,
        note("The sender token, or the first 30 of its 32 random characters", "rfk_live_…"),
    ] = UNSET
    user: Annotated[Any, note("Any key is valid", "me")] = None
    title: Annotated[str | None, _cut_text("A line above it", "nas", limits.PUSHOVER_TITLE_MAX_CHARS)] = None
    url: Annotated[
        str | None,
        _cut_text(
            "What a tap opens; of any scheme but those that run or read something, which are left out",
            "https://ci.example/runs/42",
            limits.PUSHOVER_URL_MAX_CHARS,
        ),
    ] = None
    url_title: Annotated[
        str | None,
        _cut_text("What the link says", "Run 42", limits.PUSHOVER_URL_TITLE_MAX_CHARS),
    ] = None
    device: Annotated[
        str | None,
        note("As in `POST /v1/send`; where nobody has any of the names, all devices", "phone"),
    ] = None
    priority: Annotated[int, note("-2 min, -1 low, 0 default, 1 high, 2 emergency", 0, minimum=-2, maximum=2)] = 0
    ttl: Annotated[
        Any,
        note("Seconds until devices take the message away, and the longest it waits for them", 3600),
    ] = None
    html: Annotated[Any, note("1: `<b>`, `<i>`, `<u>`, `<font color>` and `<a href>` are rendered", 1)] = None
    monospace: Annotated[Any, note("1: shown in a typewriter's letters", 1)] = None
    timestamp: Annotated[Any, note("The time to show, in Unix seconds", TIME)] = None
    sound: Annotated[Any, note("A sound's name; `none`: silent. Devices have their own sounds", "siren")] = None
    retry: Annotated[
        Any,
        note(
            f"Of an emergency: how often it rings, in seconds, from {limits.EMERGENCY_RETRY_MIN_SECONDS} on; default "
            f"{limits.EMERGENCY_RETRY_DEFAULT_SECONDS}",
            60,
        ),
    ] = None
    expire: Annotated[
        Any,
        note(
            f"Of an emergency: how long, in seconds, up to {limits.EMERGENCY_EXPIRE_MAX_SECONDS}; default "
            f"{limits.EMERGENCY_EXPIRE_DEFAULT_SECONDS}",
            3600,
        ),
    ] = None
    callback: Annotated[
        Any,
        note(
            "Of an emergency: an https URL at a public address that is posted to once somebody has acknowledged it",
            "https://ops.example/acknowledged",
        ),
    ] = None
    tags: Annotated[Any, note("Of an emergency: labels to cancel it by, with commas between", "db1,eu")] = None
    attachment_base64: Annotated[
        Any,
        note(
            f"A picture (png, jpeg, gif, webp) of at most {limits.IMAGE_MAX_BYTES} bytes in base64; in a form of parts "
            "also the file `attachment`. Any other is left out",
            "iVBORw0KGgo…",
        ),
    ] = None
    attachment_type: Annotated[Any, note("Its media type; the picture itself decides", "image/png")] = None


# Names that clients may offer, and check a message's against. Each device has its own sounds; `none` is silent.
SOUNDS: Final = {
    "pushover": "Pushover (default)",
    "bike": "Bike",
    "bugle": "Bugle",
    "cashregister": "Cash Register",
    "classical": "Classical",
    "cosmic": "Cosmic",
    "falling": "Falling",
    "gamelan": "Gamelan",
    "incoming": "Incoming",
    "intermission": "Intermission",
    "magic": "Magic",
    "mechanical": "Mechanical",
    "pianobar": "Piano Bar",
    "siren": "Siren",
    "spacealarm": "Space Alarm",
    "tugboat": "Tug Boat",
    "alien": "Alien Alarm (long)",
    "climb": "Climb (long)",
    "persistent": "Persistent (long)",
    "echo": "Pushover Echo (long)",
    "updown": "Up Down (long)",
    "vibrate": "Vibrate Only",
    "none": "None (silent)",
}
