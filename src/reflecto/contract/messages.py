"""Wire models of what is sent to devices: messages, documents, rings, reminders. Source: api.md.

The models take what a client may send in any of the body forms; `core` checks and prepares it.
"""

import math
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.devices import DeviceType
from reflecto.contract.limits import (
    REMINDER_MESSAGE_MAX_CHARS,
    RING_DEFAULT_SECONDS,
    RING_MAX_SECONDS,
    RING_MIN_SECONDS,
)
from reflecto.contract.tokens import Priority
from reflecto.contract.wire import Request


class Action(msgspec.Struct, frozen=True):
    """A button that opens `url` (http or https) on the phone."""

    label: str
    url: str


class SendRequest(Request, frozen=True, kw_only=True):
    """A notification."""

    # Bounds in bytes are checked in `core.messages`, where the details name the byte count.
    field_errors: ClassVar = {
        "message": errors.INVALID_MESSAGE,
        "title": errors.INVALID_TITLE,
        "priority": errors.INVALID_PRIORITY,
        "tags": errors.INVALID_TAGS,
        "url": errors.INVALID_URL,
        "url_title": errors.INVALID_URL_TITLE,
        "actions": errors.INVALID_ACTION,
        "device": errors.INVALID_DEVICE,
        "markdown": errors.INVALID_MARKDOWN,
        "ttl": errors.INVALID_TTL,
    }
    field_checks: ClassVar = {"ttl": lambda seconds: seconds is None or math.isfinite(seconds)}

    message: str
    title: str | None = None
    priority: Priority = "default"
    tags: tuple[str, ...] = ()
    url: str | None = None
    url_title: str | None = None
    actions: tuple[Action, ...] = ()
    device: str = "all"
    markdown: bool = False
    ttl: int | float | None = None


class Caveat(msgspec.Struct, frozen=True):
    """Something was accepted but not done as asked."""

    code: str
    message: str


class DeliveredTo(msgspec.Struct, frozen=True):
    """A device whose queue holds the message durably."""

    device_id: str
    type: DeviceType


class SendResponse(msgspec.Struct, frozen=True):
    """What became of a message or a ring."""

    id: str
    delivered_to: tuple[DeliveredTo, ...]
    warnings: tuple[Caveat, ...]


class DocumentRequest(Request, frozen=True, kw_only=True):
    """A text file for the phone's downloads: at most 128 KiB of UTF-8."""

    field_errors: ClassVar = {
        "filename": errors.INVALID_FILENAME,
        "content": errors.INVALID_CONTENT,
        "title": errors.INVALID_TITLE,
        "device": errors.INVALID_DEVICE,
    }

    filename: str
    content: str
    title: str | None = None
    device: str = "all"


class DocumentResponse(msgspec.Struct, frozen=True):
    """What became of a document; `byte_length` counts its content in UTF-8."""

    document_id: str
    byte_length: int
    delivered_to: tuple[DeliveredTo, ...]
    warnings: tuple[Caveat, ...]


class RingRequest(Request, frozen=True, kw_only=True):
    """Make the phones sound for `duration` seconds."""

    field_errors: ClassVar = {"duration": errors.INVALID_DURATION, "message": errors.INVALID_MESSAGE}

    duration: Annotated[int, Meta(ge=RING_MIN_SECONDS, le=RING_MAX_SECONDS)] = RING_DEFAULT_SECONDS
    message: str | None = None


class ReminderRequest(Request, frozen=True, kw_only=True):
    """A notification at a later time: `at` is Unix seconds, or RFC 3339 with an offset."""

    field_errors: ClassVar = {
        "message": errors.INVALID_MESSAGE,
        "at": errors.INVALID_AT,
        "title": errors.INVALID_TITLE,
        "device": errors.INVALID_DEVICE,
    }

    message: Annotated[str, Meta(min_length=1, max_length=REMINDER_MESSAGE_MAX_CHARS)]
    at: int | str
    title: str | None = None
    device: str = "all"


class ReminderResponse(msgspec.Struct, frozen=True):
    """A reminder that waits; `fire_at` is Unix seconds."""

    reminder_id: str
    fire_at: int
    warnings: tuple[Caveat, ...]


class ReminderState(msgspec.Struct, frozen=True):
    """A waiting reminder as its token reads it. Times are Unix seconds."""

    reminder_id: str
    message: str
    title: str | None
    fire_at: int
    created_at: int


class ReminderList(msgspec.Struct, frozen=True):
    """The token's waiting reminders, the next one first."""

    reminders: tuple[ReminderState, ...]
