"""What is inside a wire blob. Source: devices.md "Keys and envelopes"."""

from typing import Any, Literal

import msgspec

EnvelopeType = Literal[
    "notification",
    "interaction",
    "interaction.closed",
    "document",
    "ring",
    "reminder",
    "token.created",
    "mirror.posted",
    "mirror.removed",
    "dismiss",
    "reply",
]


class Envelope(msgspec.Struct, frozen=True):
    """`ts` is Unix seconds; `source` names who sent it, for example `{"token": "CI"}`."""

    type: str
    id: str
    ts: int
    source: dict[str, Any]
    payload: dict[str, Any]


class InteractionPayload(msgspec.Struct, frozen=True):
    """A question to show until `expires_at` (Unix seconds)."""

    question: str
    choices: tuple[str, ...]
    expires_at: int


class InteractionClosedPayload(msgspec.Struct, frozen=True):
    """A prompt to withdraw, and what became of it. The phone knows the label of `choice_index`."""

    status: Literal["answered", "cancelled"]
    choice_index: int | None = None
    answered_by: str | None = None  # the winning device's label
    answered_by_id: str | None = None


class TokenCreatedPayload(msgspec.Struct, frozen=True):
    """A sender token for the owner to copy; the server keeps only its hash."""

    id: str
    label: str
    token: str


class ActionPayload(msgspec.Struct, frozen=True):
    """A button that opens a page."""

    label: str
    url: str


class NotificationPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """A notification; absent fields have these defaults."""

    message: str
    title: str | None = None
    priority: str = "default"
    tags: tuple[str, ...] = ()
    url: str | None = None
    url_title: str | None = None
    actions: tuple[ActionPayload, ...] = ()
    markdown: bool = False


class DocumentPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text file to save under a safe name that replaces nothing."""

    filename: str
    content: str
    title: str | None = None


class RingPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sound for `duration` seconds, unless it is past `expires_at` (Unix seconds)."""

    duration: int
    expires_at: int
    message: str | None = None


class ReminderPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reminder set for `at` (Unix seconds); `late`: the server was down then."""

    message: str
    at: int
    title: str | None = None
    late: bool = False
