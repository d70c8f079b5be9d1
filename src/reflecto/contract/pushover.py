"""Wire models of Pushover's calls. Source: api.md "POST /v1/messages.json", neighbours.md "Pushover".

The replies are dicts in `api.pushover`; `api.operations.pushover` describes them.
"""

from typing import Any, ClassVar, Final

from msgspec import UNSET, UnsetType

from reflecto.contract import errors
from reflecto.contract.wire import Request


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

    message: str
    token: str | UnsetType = UNSET
    user: Any = None
    title: str | None = None
    url: str | None = None
    url_title: str | None = None
    device: str | None = None
    priority: int = 0
    ttl: Any = None
    html: Any = None
    monospace: Any = None
    timestamp: Any = None
    sound: Any = None
    retry: Any = None
    expire: Any = None
    callback: Any = None
    tags: Any = None
    attachment_base64: Any = None
    attachment_type: Any = None


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
