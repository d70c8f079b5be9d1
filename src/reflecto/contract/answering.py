"""Wire models of how a phone ends a question: with an answer, or without. Source: devices.md "Answering"."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.limits import CHOICES_MAX, COMMENT_MAX_CHARS, COMMENT_SALT_BYTES
from reflecto.contract.notes import UNPADDED_BASE64URL_OF_16_BYTES, Note, a_signature, a_time, note
from reflecto.contract.question_states import CHOICE_INDEX, TWO_DIGITS, QuestionId, Reason
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

DismissReason = Literal["dismissed", "wrong_number"]


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
