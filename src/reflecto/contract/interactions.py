"""Wire models of asking. Source: interactions.openapi.yaml, api.md "POST interactions"."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.details import (
    DETAILS_EXAMPLE,
    Details,
    Source,
    are_details_in_bounds,
    is_source_in_bounds,
)
from reflecto.contract.limits import (
    CHOICE_MAX_CHARS,
    CHOICES_MAX,
    CHOICES_MIN,
    DEFAULT_CHOICES,
    DETAILS_MAX_BLOCKS,
    DETAILS_MAX_BYTES,
    EXPIRES_IN_DEFAULT_SECONDS,
    EXPIRES_IN_MAX_SECONDS,
    EXPIRES_IN_MIN_SECONDS,
    IDEMPOTENCY_KEY_MAX_CHARS,
    QUESTION_MAX_CHARS,
    TETHER_MAX_SECONDS,
    TETHER_MIN_SECONDS,
)
from reflecto.contract.notes import note
from reflecto.contract.question_states import SIGNED_FIELDS, Commenting, Confirm, Danger
from reflecto.contract.visibility import seen_of
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

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
        "details": errors.INVALID_DETAILS,
        "source": errors.INVALID_SOURCE,
        "danger": errors.INVALID_DANGER,
        "confirm": errors.INVALID_CONFIRM,
        "comment": errors.INVALID_COMMENT,
    }
    field_checks: ClassVar = {
        "question": is_not_blank,
        "choices": _are_different,
        "details": are_details_in_bounds,
        "source": is_source_in_bounds,
    }

    question: Annotated[
        str,
        Meta(min_length=1, max_length=QUESTION_MAX_CHARS, pattern=NOT_BLANK),
        note("What to ask; counted in characters (code points), not blank", "Deploy build 42 to production?"),
    ]
    choices: Annotated[
        tuple[Choice, ...],
        Meta(min_length=CHOICES_MIN, max_length=CHOICES_MAX),
        note(
            f"The labels to choose from, each 1 to {CHOICE_MAX_CHARS} characters, not blank and no two alike",
            ["Approve", "Deny"],
            uniqueItems=True,
        ),
    ] = DEFAULT_CHOICES
    expires_in: Annotated[
        int,
        Meta(ge=EXPIRES_IN_MIN_SECONDS, le=EXPIRES_IN_MAX_SECONDS),
        note("How long it may be answered, in seconds", 600),
    ] = EXPIRES_IN_DEFAULT_SECONDS
    idempotency_key: (
        Annotated[
            str,
            Meta(min_length=1, max_length=IDEMPOTENCY_KEY_MAX_CHARS),
            note("Makes a retry find the first try, whatever else it asks", "deploy-42"),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    tether: (
        Annotated[
            int,
            Meta(ge=TETHER_MIN_SECONDS, le=TETHER_MAX_SECONDS),
            note(
                "Ends the question, as cancelled, when nobody has waited for it for so many seconds: for a program "
                "that can be killed without a word",
                30,
            ),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    details: (
        Annotated[
            Details,
            note(
                f"What the person has to see: up to {DETAILS_MAX_BLOCKS} blocks, together at most "
                f"{DETAILS_MAX_BYTES // 1_024} KiB as canonical JSON (RFC 8785)",
                DETAILS_EXAMPLE,
            ),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    source: (
        Annotated[
            Source,
            note("What the asker says of itself", {"app": "Claude Code", "host": "laptop-17", "where": "~/shop"}),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    danger: (
        Annotated[Danger, note("`high`: never answered with its first choice from a notification", "high")]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    confirm: (
        Annotated[
            Confirm,
            note(
                "How the first choice is given: with a tap, by holding it for a second, or with the two digits of "
                "`confirm_number`, which the asker shows where it runs",
                "number",
            ),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    comment: (
        Annotated[Commenting, note("`optional`: the person may add a word to the answer", "optional")]
        | msgspec.UnsetType
    ) = msgspec.UNSET

    def given(self) -> dict[str, Any]:
        """Return those of SIGNED_FIELDS that the request gave."""
        named = {name: getattr(self, name) for name in SIGNED_FIELDS}
        return {name: value for name, value in named.items() if value is not msgspec.UNSET}


class SimulateRequest(Request, frozen=True, kw_only=True):
    """Answer a test token's own question by label."""

    field_errors: ClassVar = {"choice": errors.INVALID_CHOICE}

    choice: Annotated[
        str,
        note("One of the question's choices, to the letter", "Approve", minLength=1, maxLength=CHOICE_MAX_CHARS),
    ]
