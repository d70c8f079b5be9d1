"""What a phone has to tell its owner. Each is one line of `--json`; the tag is its `event`."""

from typing import Literal

import msgspec

from reflecto.contract.details import Block
from reflecto.contract.envelopes import ImagePayload
from reflecto.contract.question_states import Confirm, Danger
from reflecto.phone.state import OpenEmergency, Question

AlarmOutcome = Literal["acknowledged", "cancelled", "expired", "not_recorded"]
Outcome = Literal["sent", "answered_elsewhere", "withdrawn", "expired", "not_recorded"]


class Effect(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something to tell."""


class Enrolled(Effect, frozen=True, kw_only=True, tag="enrolled"):
    """This phone belongs to its owner now. `founded`: it is the owner's first. `signing_key` is public, base64."""

    url: str
    owner_id: str
    device_id: str
    label: str
    signing_key: str
    founded: bool


class TokenShown(Effect, frozen=True, kw_only=True, tag="token"):
    """A sender token, shown this once. `url` is the server it is for."""

    id: str
    label: str
    token: str
    url: str

    def __repr__(self) -> str:
        """Keep the secret out of tracebacks and logs."""
        return f"TokenShown({self.id})"


class TokenHeld(Effect, frozen=True, kw_only=True, tag="token_held"):
    """A token waits in the state file for a place where it may be shown."""

    id: str
    label: str


class Opened(Effect, frozen=True, kw_only=True, tag="question"):
    """A question to answer before `expires_at` (Unix seconds). `resumed`: it was shown in an earlier run.

    `says` is what the asker says of itself, `danger` how much harm it says a wrong tap does, `confirm` how the first
    choice is tapped; `comment`: the owner may add a word.
    """

    id: str
    source: str
    question: str
    choices: tuple[str, ...]
    expires_at: int
    resumed: bool = False
    details: tuple[Block, ...] = ()
    says: dict[str, str] = {}
    danger: Danger = "normal"
    confirm: Confirm = "tap"
    comment: bool = False

    @classmethod
    def of(cls, question: Question, *, resumed: bool = False) -> "Opened":
        """Tell of this question."""
        return cls(
            id=question.id,
            source=question.source,
            question=question.text,
            choices=question.choices,
            expires_at=question.expires_at,
            resumed=resumed,
            details=question.details,
            says=question.says,
            danger="high" if question.is_dangerous else "normal",
            confirm=question.confirm,
            comment=question.takes_comment,
        )


class Sending(Effect, frozen=True, kw_only=True, tag="sending"):
    """A tap was taken and is stored; the server's verdict is still awaited."""

    id: str
    choice_index: int
    choice: str


class Ended(Effect, frozen=True, kw_only=True, tag="ended"):
    """A question's end. `too_late`: a tap of this phone was on its way and did not count.

    `by` is the label of the device that answered; `detail` is the server's error code for `not_recorded`, `reason` why
    it was withdrawn, where that was told.
    """

    id: str
    outcome: Outcome
    choice_index: int | None = None
    choice: str | None = None
    by: str | None = None
    by_device_id: str | None = None
    too_late: bool = False
    detail: str | None = None
    reason: str | None = None


class WrongNumber(Effect, frozen=True, kw_only=True, tag="wrong_number"):
    """The number was not the one that is shown where it runs; the question is open again, for one more try."""

    id: str
    tries_left: int


class Missed(Effect, frozen=True, kw_only=True, tag="missed"):
    """A question that was over before it got here."""

    id: str
    source: str
    question: str
    expires_at: int


class LeftOpen(Effect, frozen=True, kw_only=True, tag="left_open"):
    """A question without the label this phone answers with, or with a number that only a person can type."""

    id: str
    wanted: str
    needs_number: bool = False


class Muted(Effect, frozen=True, kw_only=True, tag="muted"):
    """A sender was muted, on the device that `by` names (None: this one). `until`: Unix seconds; None: no longer."""

    token_id: str
    source: str
    until: int | Literal["forever"] | None
    by: str | None = None


class Renamed(Effect, frozen=True, kw_only=True, tag="renamed"):
    """A sender got another name, on the device that `by` names (None: this one)."""

    token_id: str
    source: str
    label: str
    by: str | None = None


class PutAside(Effect, frozen=True, kw_only=True, tag="put_aside"):
    """A question of a muted sender, which is not shown."""

    id: str
    source: str


class Refused(Effect, frozen=True, kw_only=True, tag="refused_by_server"):
    """What the owner wanted of the server was not done; `detail` is its error code."""

    what: str
    detail: str


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A page that a notification offers to open."""

    label: str
    url: str


class Notified(Effect, frozen=True, kw_only=True, tag="notification"):
    """A message to read. `markdown`, `html`: that is how it is written. `timestamp`: the sender's time for it."""

    id: str
    source: str
    message: str
    title: str | None = None
    priority: str = "default"
    tags: tuple[str, ...] = ()
    url: str | None = None
    url_title: str | None = None
    actions: tuple[Action, ...] = ()
    markdown: bool = False
    html: bool = False
    monospace: bool = False
    timestamp: int | None = None
    image: ImagePayload | None = None


class DocumentSaved(Effect, frozen=True, kw_only=True, tag="document"):
    """A document is in the downloads folder, at `path`; `filename` is what its sender called it."""

    id: str
    source: str
    filename: str
    path: str
    byte_length: int
    title: str | None = None


class DocumentUnsaved(Effect, frozen=True, kw_only=True, tag="document_unsaved"):
    """A document could not be saved. `kept`: it is in the state file, and tried again at the next start."""

    id: str
    source: str
    filename: str
    reason: str
    kept: bool


class Rang(Effect, frozen=True, kw_only=True, tag="ring"):
    """Sound for `duration` seconds, or until somebody presses a key."""

    id: str
    source: str
    duration: int
    message: str | None = None


class RingStopped(Effect, frozen=True, kw_only=True, tag="ring_stopped"):
    """A ring was stopped on the device that `by` names: be silent."""

    id: str
    by: str


class Alarmed(Effect, frozen=True, kw_only=True, tag="emergency"):
    """An emergency; it goes on until `expires_at` (Unix seconds). `resumed`: it was shown in an earlier run."""

    id: str
    receipt: str
    source: str
    message: str
    title: str | None
    html: bool
    url: str | None
    url_title: str | None
    retry: int
    expires_at: int
    resumed: bool = False

    @classmethod
    def of(cls, emergency: OpenEmergency, *, resumed: bool = False) -> "Alarmed":
        """Tell of this emergency."""
        return cls(
            id=emergency.id,
            receipt=emergency.receipt,
            source=emergency.source,
            message=emergency.message,
            title=emergency.title,
            html=emergency.html,
            url=emergency.url,
            url_title=emergency.url_title,
            retry=emergency.retry,
            expires_at=emergency.expires_at,
            resumed=resumed,
        )


class AlarmRang(Effect, frozen=True, kw_only=True, tag="emergency_ring"):
    """The emergency rings: sound for `duration` seconds, or until somebody presses a key."""

    id: str
    duration: int


class Acknowledging(Effect, frozen=True, kw_only=True, tag="acknowledging"):
    """The owner has acknowledged it, and that is stored; the server's verdict is still awaited."""

    id: str


class AlarmEnded(Effect, frozen=True, kw_only=True, tag="emergency_ended"):
    """An emergency's end; `by` is the label of the phone that acknowledged it, None: this one did, or none."""

    id: str
    outcome: AlarmOutcome
    by: str | None = None


class RingMissed(Effect, frozen=True, kw_only=True, tag="ring_missed"):
    """A ring that came too late to sound."""

    id: str
    source: str


class Reminded(Effect, frozen=True, kw_only=True, tag="reminder"):
    """A reminder that was set for `at` (Unix seconds). `late`: the server was down then."""

    id: str
    source: str
    message: str
    at: int
    title: str | None = None
    late: bool = False


class Unsupported(Effect, frozen=True, kw_only=True, tag="unsupported"):
    """An envelope of a type this version does not show."""

    id: str
    type: str


class Unreadable(Effect, frozen=True, kw_only=True, tag="unreadable"):
    """An entry that could not be opened or understood, and was skipped."""

    seq: int
    reason: str


class Connected(Effect, frozen=True, kw_only=True, tag="connected"):
    """The stream is up."""

    url: str


class Disconnected(Effect, frozen=True, kw_only=True, tag="disconnected"):
    """The stream is down; the next try is in `retry_in_seconds`."""

    reason: str
    retry_in_seconds: float


class Revoked(Effect, frozen=True, kw_only=True, tag="revoked"):
    """The server no longer knows this device."""

    url: str
