"""Wire models of a question as its asker reads it. Source: interactions.openapi.yaml, api.md "GET interactions".

A program that sends and never asks loads these too, so nothing else of a question is in here.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from reflecto.contract.devices import LABEL, DeviceId
from reflecto.contract.notes import KEY_EXAMPLE, TIME, Note, a_signature, a_time, an_id, note

CHOICE_INDEX: Final = note("The place of the choice in `choices`, from 0", 0)

Status = Literal["pending", "answered", "expired", "cancelled"]
Reason = Literal["withdrawn", "abandoned", "revoked", "dismissed", "wrong_number"]  # why a question is cancelled
# As soon as one of these was given, the phone signs over all that were (`reflecto-answer-v2`).
SIGNED_FIELDS: Final = ("details", "source", "danger", "confirm", "comment")
Danger = Literal["normal", "high"]
Confirm = Literal["tap", "hold", "number"]
Commenting = Literal["none", "optional"]
TWO_DIGITS: Final = "^[0-9]{2}$"
SHA256_HEX: Final = "^[0-9a-f]{64}$"
SHA256_EXAMPLE: Final = "eaab4eabe0f5318e5b5ef670d18f519e02572fd3121f14495b71757bb8686256"
QuestionId = Annotated[str, an_id("int", "The question's id")]


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
