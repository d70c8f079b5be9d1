"""What is inside a wire blob. Source: devices.md "Keys and envelopes"."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from reflecto.contract.details import Details, Source
from reflecto.contract.question_states import Commenting, Confirm, Danger

EnvelopeType = Literal[
    "notification",
    "interaction",
    "interaction.closed",
    "document",
    "ring",
    "ring.stopped",
    "emergency",
    "emergency.closed",
    "reminder",
    "token.created",
    "token.changed",
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
    """A question to show until `expires_at` (Unix seconds). The rest is there as far as it was given."""

    question: str
    choices: tuple[str, ...]
    expires_at: int
    details: Details | UnsetType = UNSET
    source: Source | UnsetType = UNSET
    danger: Danger | UnsetType = UNSET
    confirm: Confirm | UnsetType = UNSET
    comment: Commenting | UnsetType = UNSET


class CommentDigest(msgspec.Struct, frozen=True):
    """What is told of a comment to who may not read it: SHA-256 in hex of its canonical JSON with its salt."""

    sha256: str


class ClosedReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What the phone whose tap won has signed, for the other phones to check. Source: end-to-end.md "Answers"."""

    device_id: str
    choice_index: int
    answered_at: int  # by that phone's clock, as it was signed
    signature: str  # base64
    number: str | UnsetType = UNSET
    comment: CommentDigest | UnsetType = UNSET
    v: int


class InteractionClosedPayload(msgspec.Struct, frozen=True):
    """A prompt to withdraw, and what became of it. The phone knows the label of `choice_index`."""

    status: Literal["answered", "cancelled", "expired"]
    choice_index: int | None = None
    answered_by: str | None = None  # the winning device's label
    answered_by_id: str | None = None
    reason: str | UnsetType = UNSET  # of a cancelled one: a Reason, or what a later server knows
    receipt: ClosedReceipt | UnsetType = UNSET  # of an answered one that is signed over as version 2


class TokenCreatedPayload(msgspec.Struct, frozen=True):
    """A sender token for the owner to copy; the server keeps only its hash."""

    id: str
    label: str
    token: str


class TokenChangedPayload(msgspec.Struct, frozen=True):
    """What the owner has changed of a sender token on the phone `by` (its label); the rest is left out.

    `muted_until`: Unix seconds, `forever`, or null: no longer.
    """

    token_id: str
    by: str
    by_id: str
    label: str | UnsetType = UNSET
    colour: str | UnsetType = UNSET
    muted_until: int | str | UnsetType | None = UNSET


class ActionPayload(msgspec.Struct, frozen=True):
    """A button that opens a page."""

    label: str
    url: str


class ImagePayload(msgspec.Struct, frozen=True):
    """A picture (png, jpeg, gif or webp); `data` is base64 of at most 40 KiB."""

    media_type: str
    data: str


class Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What there is to read; absent fields have these defaults.

    `html`: the tags b, i, u, font color and a href in `message` are to be rendered, and nothing else; `monospace`: show
    it in a typewriter's letters. `timestamp`: the time to show in place of the arrival's. `delete_at`: show it no
    longer from then on. Times are Unix seconds. `sound`: the sender's name for one; `none` is silent.
    """

    message: str
    title: str | None = None
    url: str | None = None
    url_title: str | None = None
    html: bool = False
    monospace: bool = False
    timestamp: int | None = None
    image: ImagePayload | None = None
    sound: str | None = None


class NotificationPayload(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A notification."""

    priority: str = "default"
    tags: tuple[str, ...] = ()
    actions: tuple[ActionPayload, ...] = ()
    markdown: bool = False
    delete_at: int | None = None


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


class RingStoppedPayload(msgspec.Struct, frozen=True):
    """The ring of this envelope's id is to be silent everywhere; `by` is the label of the device that stopped it."""

    by: str


class EmergencyPayload(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A message that rings at once and every `retry` seconds until it is closed, or until `expires_at` (Unix seconds).

    It is sent again, with the same id, for each round.
    """

    receipt: str
    retry: int
    expires_at: int


class EmergencyClosedPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end of the emergency of this envelope's id; `by` is the label of the phone that acknowledged it."""

    status: Literal["acknowledged", "cancelled", "expired"]
    receipt: str
    by: str | None = None


class ReminderPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reminder set for `at` (Unix seconds); `late`: the server was down then."""

    message: str
    at: int
    title: str | None = None
    late: bool = False
