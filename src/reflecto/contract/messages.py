"""Wire models of what is sent to devices: messages, documents, rings, reminders. Source: api.md.

The models take what a client may send in any of the body forms; `core` checks and prepares it.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from reflecto.contract import errors, limits
from reflecto.contract.caveats import WARNINGS, Caveat
from reflecto.contract.devices import DeviceId, DeviceType
from reflecto.contract.notes import (
    DATE_TIME,
    HEX_DIGITS,
    NAMES_SOMETHING,
    Note,
    a_time,
    an_id,
    filename_pattern,
    note,
    text_of_bytes,
    web_url,
)
from reflecto.contract.tokens import GOTIFY_PRIORITIES, PRIORITIES, Priority
from reflecto.contract.wire import Request

REMINDER_EXAMPLE: Final = "2025-08-10T09:00:00+02:00"  # served as a day that is still to come
_DELIVERED_TO: Final = note(
    "The devices whose queue holds it durably",
    [{"device_id": f"dev_{HEX_DIGITS}", "type": "android"}],
)
ReminderId = Annotated[str, an_id("rem", "The reminder's id")]
Selector = Annotated[
    str,
    note(
        "`all`, `phone` (or `mobile`), `desktop`, a device's label or id, or several of these with commas between; "
        "a name that no device has becomes a warning",
        "phone",
        minLength=1,
        maxLength=limits.SELECTOR_MAX_CHARS,
        pattern=NAMES_SOMETHING,
    ),
]


class Action(msgspec.Struct, frozen=True):
    """A button that opens `url` (http or https) on the phone."""

    label: Annotated[str, text_of_bytes("What the button says", "Open the log", limits.ACTION_LABEL_MAX_BYTES)]
    url: Annotated[str, web_url("What it opens")]


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

    message: Annotated[str, text_of_bytes("What to say", "Backup finished", limits.MESSAGE_MAX_BYTES)]
    title: Annotated[str | None, text_of_bytes("A line above it", "nas", limits.TITLE_MAX_BYTES)] = None
    priority: Annotated[
        Priority,
        note(
            "How much it may disturb. A number is read as Gotify's: 0 min, 1 to 3 low, 4 to 7 default, 8 to 10 high",
            "default",
            type=["string", "integer"],
            enum=[*PRIORITIES, *range(len(GOTIFY_PRIORITIES))],
        ),
    ] = "default"
    tags: Annotated[
        tuple[str, ...],
        note(
            f"At most {limits.TAGS_MAX} short labels of {limits.TAG_MAX_BYTES} bytes; more or longer ones are trimmed "
            "with a warning",
            ["backup"],
        ),
    ] = ()
    url: Annotated[str | None, web_url("What a tap opens")] = None
    url_title: Annotated[
        str | None,
        text_of_bytes("What the link says; only with `url`", "Run 42", limits.URL_TITLE_MAX_BYTES),
    ] = None
    actions: Annotated[tuple[Action, ...], Note("Buttons that open a page", maxItems=limits.ACTIONS_MAX)] = ()
    device: Selector = "all"
    markdown: Annotated[bool, note("The message is Markdown; raw HTML in it is shown, never run", False)] = False
    ttl: Annotated[
        int | float | None,
        note(
            "Seconds the message waits for a device that is offline: floored, then clamped to 0 to "
            f"{limits.TTL_MAX_SECONDS}; 0: only devices connected now; default: {limits.TTL_MAX_SECONDS}",
            3600,
        ),
    ] = None


class DeliveredTo(msgspec.Struct, frozen=True):
    """A device whose queue holds the message durably."""

    device_id: DeviceId
    type: DeviceType


class SendResponse(msgspec.Struct, frozen=True):
    """What became of a message or a ring."""

    id: Annotated[str, an_id("msg", "The message's id")]
    delivered_to: Annotated[tuple[DeliveredTo, ...], _DELIVERED_TO]
    warnings: Annotated[tuple[Caveat, ...], WARNINGS]


class DocumentRequest(Request, frozen=True, kw_only=True):
    """A text file for the phone's downloads: at most 128 KiB of UTF-8."""

    field_errors: ClassVar = {
        "filename": errors.INVALID_FILENAME,
        "content": errors.INVALID_CONTENT,
        "title": errors.INVALID_TITLE,
        "device": errors.INVALID_DEVICE,
    }

    filename: Annotated[
        str,
        note(
            "A plain name without folders that ends in a plain-text extension, never one that a tap would run",
            "report.md",
            minLength=1,
            maxLength=limits.FILENAME_MAX_CHARS,
            pattern=filename_pattern(),
        ),
    ]
    content: Annotated[
        str,
        note(
            f"The text; at most {limits.DOCUMENT_MAX_BYTES} bytes of UTF-8",
            "# Nightly report\n\nAll green.\n",
            minLength=1,
        ),
    ]
    title: Annotated[
        str | None,
        text_of_bytes("A line above the file's name", "Nightly report", limits.TITLE_MAX_BYTES),
    ] = None
    device: Selector = "all"


class DocumentResponse(msgspec.Struct, frozen=True):
    """What became of a document; `byte_length` counts its content in UTF-8."""

    document_id: Annotated[str, an_id("doc", "The document's id")]
    byte_length: Annotated[int, note("The content's length in bytes of UTF-8", 30)]
    delivered_to: Annotated[tuple[DeliveredTo, ...], _DELIVERED_TO]
    warnings: Annotated[tuple[Caveat, ...], WARNINGS]


class RingRequest(Request, frozen=True, kw_only=True):
    """Make the phones sound for `duration` seconds."""

    field_errors: ClassVar = {"duration": errors.INVALID_DURATION, "message": errors.INVALID_MESSAGE}

    duration: Annotated[
        int,
        Meta(ge=limits.RING_MIN_SECONDS, le=limits.RING_MAX_SECONDS),
        note("How long it sounds, in seconds", 30),
    ] = limits.RING_DEFAULT_SECONDS
    message: Annotated[
        str | None,
        text_of_bytes("What to show meanwhile", "Where are you?", limits.MESSAGE_MAX_BYTES),
    ] = None


class ReminderRequest(Request, frozen=True, kw_only=True):
    """A notification at a later time: `at` is Unix seconds, or RFC 3339 with an offset."""

    field_errors: ClassVar = {
        "message": errors.INVALID_MESSAGE,
        "at": errors.INVALID_AT,
        "title": errors.INVALID_TITLE,
        "device": errors.INVALID_DEVICE,
    }

    message: Annotated[
        str,
        Meta(min_length=1, max_length=limits.REMINDER_MESSAGE_MAX_CHARS),
        note("What to be reminded of; counted in characters", "Stand-up"),
    ]
    at: Annotated[
        int | str,
        note(
            f"When: Unix seconds, or RFC 3339 with an offset; {limits.REMINDER_MIN_AHEAD_SECONDS} seconds to 365 days "
            "ahead",
            REMINDER_EXAMPLE,
            pattern=DATE_TIME,
        ),
    ]
    title: Annotated[str | None, text_of_bytes("A line above it", "Work", limits.TITLE_MAX_BYTES)] = None
    device: Selector = "all"


class ReminderResponse(msgspec.Struct, frozen=True):
    """A reminder that waits; `fire_at` is Unix seconds."""

    reminder_id: ReminderId
    fire_at: Annotated[int, a_time("When it will come", 3600)]
    warnings: Annotated[tuple[Caveat, ...], WARNINGS]


class ReminderState(msgspec.Struct, frozen=True):
    """A waiting reminder as its token reads it. Times are Unix seconds."""

    reminder_id: ReminderId
    message: Annotated[str, note("What to be reminded of", "Stand-up")]
    title: Annotated[str | None, note("A line above it", "Work")]
    fire_at: Annotated[int, a_time("When it will come", 3600)]
    created_at: Annotated[int, a_time("When it was set")]


class ReminderList(msgspec.Struct, frozen=True):
    """The token's waiting reminders, the next one first."""

    reminders: Annotated[tuple[ReminderState, ...], Note("The next one first")]
