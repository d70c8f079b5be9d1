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
