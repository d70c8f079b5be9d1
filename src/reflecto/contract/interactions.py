"""Wire models of questions. Source: interactions.openapi.yaml, api.md "POST/GET/DELETE interactions"."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

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
from reflecto.contract.devices import LABEL, DeviceId
from reflecto.contract.limits import (
    CHOICE_MAX_CHARS,
    CHOICES_MAX,
    CHOICES_MIN,
    COMMENT_MAX_CHARS,
    COMMENT_SALT_BYTES,
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
from reflecto.contract.notes import (
    KEY_EXAMPLE,
    TIME,
    UNPADDED_BASE64URL_OF_16_BYTES,
    Note,
    a_signature,
    a_time,
    an_id,
    note,
)
from reflecto.contract.visibility import seen_of
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

CHOICE_INDEX: Final = note("The place of the choice in `choices`, from 0", 0)

Status = Literal["pending", "answered", "expired", "cancelled"]
Reason = Literal["withdrawn", "abandoned", "revoked", "dismissed", "wrong_number"]  # why a question is cancelled
DismissReason = Literal["dismissed", "wrong_number"]
# As soon as one of these was given, the phone signs over all that were (`reflecto-answer-v2`).
SIGNED_FIELDS: Final = ("details", "source", "danger", "confirm", "comment")
Danger = Literal["normal", "high"]
Confirm = Literal["tap", "hold", "number"]
Commenting = Literal["none", "optional"]
TWO_DIGITS: Final = "^[0-9]{2}$"
SHA256_HEX: Final = "^[0-9a-f]{64}$"
SHA256_EXAMPLE: Final = "eaab4eabe0f5318e5b5ef670d18f519e02572fd3121f14495b71757bb8686256"
QuestionId = Annotated[str, an_id("int", "The question's id")]
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


class CreateInteractionResponse(msgspec.Struct, frozen=True):
    """The question's id and when it expires, in Unix seconds."""

    id: QuestionId
    expires_at: Annotated[int, note("Unix epoch seconds", TIME + 600)]
    confirm_number: (
        Annotated[
            str,
            note(
                "Only of a question with `confirm` `number`: the two digits to show where the program runs. They are "
                "told here and nowhere else",
                "07",
                pattern=TWO_DIGITS,
            ),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET


class AnsweredBy(msgspec.Struct, frozen=True):
    """The device whose tap won."""

    device_id: DeviceId
    label: Annotated[str, LABEL]


class Comment(msgspec.Struct, frozen=True):
    """A word with the tap, as the phone sent it: what was signed is its digest, which the salt keeps from guessers."""

    text: Annotated[
        str,
        Meta(min_length=1, pattern=NOT_BLANK),
        note(f"1 to {COMMENT_MAX_CHARS} characters, without the white space around them", "Not before Friday"),
    ]
    salt: Annotated[
        str,
        Meta(max_length=22, pattern=UNPADDED_BASE64URL_OF_16_BYTES),
        note(f"{COMMENT_SALT_BYTES} random bytes in base64url, without padding", "0rJ9tB0vTzqYxk3n1m2c4A"),
    ]


def is_comment_in_bounds(comment: Comment) -> bool:
    """Tell whether a person would see anything of it, and it is not too long."""
    return is_not_blank(comment.text) and len(comment.text.strip()) <= COMMENT_MAX_CHARS


class StateComment(msgspec.Struct, frozen=True):
    """A word with the tap."""

    text: Annotated[str, note("What the person wrote", "Not before Friday")]


class CommentReceipt(msgspec.Struct, frozen=True):
    """What was signed of a comment: the SHA-256 of the canonical JSON (RFC 8785) of `salt` and `text`."""

    sha256: Annotated[str, note("In hex", SHA256_EXAMPLE, pattern=SHA256_HEX)]
    text: Annotated[str, note("What the person wrote, as the phone sent it", "Not before Friday")]
    salt: Annotated[str, note("As the phone sent it: base64url", "0rJ9tB0vTzqYxk3n1m2c4A")]


class Receipt(msgspec.Struct, frozen=True):
    """What proves the tap: check `signature` over the answer message with `signing_key` (both base64).

    `answered_at` is the phone's own clock (Unix seconds), the value that was signed. The rest is only in one of `v` 2,
    which is signed over the question's `digest`, the number and the comment.
    """

    device_id: Annotated[str, an_id("dev", "The device that signed")]
    signing_key: Annotated[str, note("Its Ed25519 public key, base64", KEY_EXAMPLE)]
    choice_index: Annotated[int, CHOICE_INDEX]
    answered_at: Annotated[int, a_time("The phone's own clock, as it was signed", 42)]
    signature: Annotated[str, a_signature("Ed25519 over the answer message")]
    v: Annotated[int | msgspec.UnsetType, note("2: the answer message is `reflecto-answer-v2`", 2)] = msgspec.UNSET
    number: Annotated[str | msgspec.UnsetType, note("The two digits that were typed", "07")] = msgspec.UNSET
    comment: Annotated[CommentReceipt | msgspec.UnsetType, Note("The word with the tap, as it was signed")] = (
        msgspec.UNSET
    )


class InteractionState(msgspec.Struct, frozen=True):
    """A question as its asker reads it. Times are Unix seconds by the server's clock; `reason` only if cancelled."""

    id: QuestionId
    status: Annotated[
        Status,
        note(
            "Only `answered` is an answer; silence never is",
            "answered",
            enum=["pending", "answered", "expired", "cancelled"],
        ),
    ]
    question: Annotated[str, note("What was asked", "Deploy build 42 to production?")]
    choices: Annotated[tuple[str, ...], note("The labels, as they were given", ["Approve", "Deny"])]
    choice: Annotated[str | None, note("The chosen label; null unless answered", "Approve")]
    choice_index: Annotated[int | None, note("The place of `choice` in `choices`, from 0; null unless answered", 0)]
    created_at: Annotated[int, a_time("When it was asked")]
    expires_at: Annotated[int, a_time("When it stops being open", 600)]
    answered_at: Annotated[
        int | None,
        note("When the answer was recorded, in Unix seconds; null unless answered", TIME + 42),
    ]
    answered_by: Annotated[AnsweredBy | None, Note("The device whose tap won; null unless a device answered")]
    receipt: Annotated[Receipt | None, Note("What proves the tap; null unless the device signed")] = None
    reason: Annotated[
        str | msgspec.UnsetType,  # a Reason; a later server may know more
        note(
            "Only of a cancelled question, why: its asker withdrew it, nobody waited for it (`tether`), its token "
            "was revoked, or a wrong number was typed twice",
            "withdrawn",
            enum=["withdrawn", "abandoned", "revoked", "wrong_number"],
        ),
    ] = msgspec.UNSET
    digest: Annotated[
        str | msgspec.UnsetType,
        note(
            "What the phone signs over, stored when it was asked: SHA-256, in hex, of the canonical JSON of question, "
            "choices and what was given of details, source, danger, confirm and comment. Only where one was given",
            SHA256_EXAMPLE,
            pattern=SHA256_HEX,
        ),
    ] = msgspec.UNSET
    comment: Annotated[StateComment | msgspec.UnsetType, Note("Only where the person added a word")] = msgspec.UNSET
    simulated: Annotated[
        bool | msgspec.UnsetType,
        note("`true`: a test token answered its own question, which has a `digest`; nobody signed", True),
    ] = msgspec.UNSET


class SimulateRequest(Request, frozen=True, kw_only=True):
    """Answer a test token's own question by label."""

    field_errors: ClassVar = {"choice": errors.INVALID_CHOICE}

    choice: Annotated[
        str,
        note("One of the question's choices, to the letter", "Approve", minLength=1, maxLength=CHOICE_MAX_CHARS),
    ]


class AnswerRequest(Request, frozen=True, kw_only=True):
    """A phone's tap: the index of the choice, the phone's clock, and its signature (base64) over all of it."""

    field_errors: ClassVar = {
        "choice_index": errors.INVALID_CHOICE,
        "answered_at": errors.INVALID_ANSWERED_AT,
        "signature": errors.INVALID_SIGNATURE,
        "v": errors.INVALID_SIGNATURE,
        "number": errors.INVALID_NUMBER,
        "comment": errors.INVALID_COMMENT,
    }
    field_checks: ClassVar = {"comment": is_comment_in_bounds}

    choice_index: Annotated[int, Meta(ge=0, lt=CHOICES_MAX), CHOICE_INDEX]
    answered_at: Annotated[int, Meta(ge=0, lt=2**53), a_time("The phone's clock", 42)]
    signature: Annotated[
        str | msgspec.UnsetType,
        a_signature("Ed25519 over the answer message"),
    ] = msgspec.UNSET
    v: (
        Annotated[
            Literal[2], note("For a question that brought more than the four fields: signed as `reflecto-answer-v2`", 2)
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    number: (
        Annotated[
            str,
            Meta(min_length=2, max_length=2, pattern=TWO_DIGITS),
            note("The two digits that the person typed, for the first choice of a question that asks for them", "07"),
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    comment: Annotated[Comment, Note("A word with the tap, where the question takes one")] | msgspec.UnsetType = (
        msgspec.UNSET
    )


class AnswerResponse(msgspec.Struct, frozen=True):
    """The recorded answer. `answered_at` is the server's clock, Unix seconds."""

    id: QuestionId
    status: Annotated[Literal["answered"], note("It is answered", "answered")]
    choice_index: Annotated[int, CHOICE_INDEX]
    answered_at: Annotated[int, a_time("When the answer was recorded", 42)]


class DismissRequest(Request, frozen=True, kw_only=True):
    """End a question without an answer."""

    field_errors: ClassVar = {"reason": errors.INVALID_REASON}

    reason: Annotated[
        DismissReason,
        note("`dismissed`: its owner does not want to answer; `wrong_number`: too many wrong numbers", "dismissed"),
    ] = "dismissed"


class DismissResponse(msgspec.Struct, frozen=True):
    """The question as it ended; another reason than the one given: it had ended before."""

    id: QuestionId
    status: Annotated[Literal["cancelled"], note("It has ended without an answer", "cancelled")]
    reason: Annotated[Reason, note("Why, where that is known", "dismissed")] | msgspec.UnsetType = msgspec.UNSET


class DismissAllResponse(msgspec.Struct, frozen=True):
    """The questions that this has ended."""

    dismissed: Annotated[tuple[QuestionId, ...], Note("Their ids, in the order in which they were asked")]
