"""Wire models of questions. Source: interactions.openapi.yaml, api.md "POST/GET/DELETE interactions"."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.limits import (
    CHOICE_MAX_CHARS,
    CHOICES_MAX,
    CHOICES_MIN,
    DEFAULT_CHOICES,
    EXPIRES_IN_DEFAULT_SECONDS,
    EXPIRES_IN_MAX_SECONDS,
    EXPIRES_IN_MIN_SECONDS,
    IDEMPOTENCY_KEY_MAX_CHARS,
    QUESTION_MAX_CHARS,
    TETHER_MAX_SECONDS,
    TETHER_MIN_SECONDS,
)
from reflecto.contract.visibility import seen_of
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

Status = Literal["pending", "answered", "expired", "cancelled"]
Reason = Literal["withdrawn", "abandoned", "revoked"]  # why a question is cancelled
Choice = Annotated[str, Meta(min_length=1, max_length=CHOICE_MAX_CHARS, pattern=NOT_BLANK)]


def _are_different(labels: tuple[str, ...]) -> bool:
    """Tell whether no label is blank and a person can tell them all apart."""
    seen = {seen_of(label) for label in labels}
    return "" not in seen and len(seen) == len(labels)


class CreateInteractionRequest(Request, frozen=True, kw_only=True):
    """Ask a question. Bounds count code points; labels keep their order and exact text."""

    field_errors: ClassVar = {
        "question": errors.INVALID_QUESTION,
        "choices": errors.INVALID_CHOICES,
        "expires_in": errors.INVALID_EXPIRES_IN,
        "idempotency_key": errors.INVALID_IDEMPOTENCY_KEY,
        "tether": errors.INVALID_TETHER,
    }
    field_checks: ClassVar = {"question": is_not_blank, "choices": _are_different}

    question: Annotated[str, Meta(min_length=1, max_length=QUESTION_MAX_CHARS, pattern=NOT_BLANK)]
    choices: Annotated[tuple[Choice, ...], Meta(min_length=CHOICES_MIN, max_length=CHOICES_MAX)] = DEFAULT_CHOICES
    expires_in: Annotated[int, Meta(ge=EXPIRES_IN_MIN_SECONDS, le=EXPIRES_IN_MAX_SECONDS)] = EXPIRES_IN_DEFAULT_SECONDS
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=IDEMPOTENCY_KEY_MAX_CHARS)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    tether: Annotated[int, Meta(ge=TETHER_MIN_SECONDS, le=TETHER_MAX_SECONDS)] | msgspec.UnsetType = msgspec.UNSET


class CreateInteractionResponse(msgspec.Struct, frozen=True):
    """The question's id and when it expires, in Unix seconds."""

    id: str
    expires_at: int


class AnsweredBy(msgspec.Struct, frozen=True):
    """The device whose tap won."""

    device_id: str
    label: str


class Receipt(msgspec.Struct, frozen=True):
    """What proves the tap: check `signature` over the answer message with `signing_key` (both base64).

    `answered_at` is the phone's own clock (Unix seconds), the value that was signed.
    """

    device_id: str
    signing_key: str
    choice_index: int
    answered_at: int
    signature: str


class InteractionState(msgspec.Struct, frozen=True):
    """A question as its asker reads it. Times are Unix seconds by the server's clock; `reason` only if cancelled."""

    id: str
    status: Status
    question: str
    choices: tuple[str, ...]
    choice: str | None
    choice_index: int | None
    created_at: int
    expires_at: int
    answered_at: int | None
    answered_by: AnsweredBy | None
    receipt: Receipt | None = None
    reason: str | msgspec.UnsetType = msgspec.UNSET  # a Reason; a later server may know more


class SimulateRequest(Request, frozen=True, kw_only=True):
    """Answer a test token's own question by label."""

    field_errors: ClassVar = {"choice": errors.INVALID_CHOICE}

    choice: str


class AnswerRequest(Request, frozen=True, kw_only=True):
    """A phone's tap: the index of the choice, the phone's clock, and its signature (base64) over both."""

    field_errors: ClassVar = {
        "choice_index": errors.INVALID_CHOICE,
        "answered_at": errors.INVALID_ANSWERED_AT,
        "signature": errors.INVALID_SIGNATURE,
    }

    choice_index: Annotated[int, Meta(ge=0, lt=CHOICES_MAX)]
    answered_at: Annotated[int, Meta(ge=0, lt=2**53)]
    signature: str | msgspec.UnsetType = msgspec.UNSET


class AnswerResponse(msgspec.Struct, frozen=True):
    """The recorded answer. `answered_at` is the server's clock, Unix seconds."""

    id: str
    status: Literal["answered"]
    choice_index: int
    answered_at: int
