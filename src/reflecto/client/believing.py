"""Which answers the client believes. No I/O. Source: protocol.md "Answering".

A question that was asked with details, source, danger, confirm or comment takes neither an answer that is not signed
over all of these, nor an unsigned one, unless it was simulated with the client's own test token.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from reflecto.client import errors
from reflecto.client.proofs import check_pinned
from reflecto.client.results import Answer, Device, Question, Receipt, SignedComment
from reflecto.contract.question_states import InteractionState
from reflecto.crypto.answers import question_digest


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose answers count. `pins`: signing keys of which one must have signed; None for whichever the server names.

    `is_test`: the client has a test token, whose questions no phone sees and `simulate` answers.
    """

    pins: frozenset[str] | None = None
    is_test: bool = False


NOBODY_NAMED: Final = Trust()


def check_same_question(state: InteractionState, asked: Question) -> None:
    """Check that the server speaks of what was asked. Raises: IdempotencyMismatch, BrokenContract."""
    if (state.question, state.choices) != (asked.question, asked.choices):
        raise errors.IdempotencyMismatch("the server shows another question under this id")
    if not asked.given:
        return
    if state.digest is msgspec.UNSET:
        raise errors.BrokenContract(
            "the server is too old for details, source, danger, confirm and comment: phones did not show them"
        )
    if state.digest != own_digest(asked):
        raise errors.IdempotencyMismatch("the server shows other details under this id")


def own_digest(asked: Question) -> str:
    """Return the digest of everything that was asked, which a phone's signature covers."""
    return question_digest(asked.question, asked.choices, **asked.given)


def read_answer(state: InteractionState, asked: Question | None, trust: Trust) -> Answer:
    """Return the answer if it is to be believed. Raises: BrokenContract, InvalidReceipt."""
    index, answered_at = state.choice_index, state.answered_at
    if index is None or answered_at is None or not 0 <= index < len(state.choices):
        raise errors.BrokenContract("the answer names none of the choices")
    if state.choice != state.choices[index]:
        raise errors.BrokenContract("the answer's label and index name different choices")
    device = Device(state.answered_by.device_id, state.answered_by.label) if state.answered_by else None
    receipt = _receipt_of(state, asked, index)
    if receipt and device and receipt.device_id != device.device_id:
        raise errors.InvalidReceipt("the receipt is from another device than the answer")
    simulated = trust.is_test and device is None and receipt is None  # phones do not see what a test token asks
    if not simulated and _needs_second_form(state, asked) and (receipt is None or receipt.version != 2):
        raise errors.InvalidReceipt("no phone signed this answer together with the details of the question")
    if receipt is not None and asked is not None:
        _check_number(receipt, asked)
    comment = None if state.comment is msgspec.UNSET else state.comment.text
    if comment != (receipt.comment.text if receipt and receipt.comment else None):
        raise errors.InvalidReceipt("the comment is not the one that was signed")
    answer = Answer(
        state.id,
        state.choices[index],
        index,
        device,
        answered_at,
        receipt,
        comment,
        verified=receipt is not None and asked is not None,
        simulated=simulated,
    )
    return check_pinned(answer, trust.pins)


def _needs_second_form(state: InteractionState, asked: Question | None) -> bool:
    if asked is not None:
        return bool(asked.given)
    return state.digest is not msgspec.UNSET and state.digest != question_digest(state.question, state.choices)


def _receipt_of(state: InteractionState, asked: Question | None, index: int) -> Receipt | None:
    wire = state.receipt
    if wire is None:
        return None
    if wire.choice_index != index:
        raise errors.InvalidReceipt("the receipt is for another choice than the answer")
    version = 1 if wire.v is msgspec.UNSET else wire.v
    digest = None
    if version != 1:
        told = None if state.digest is msgspec.UNSET else state.digest
        digest = told if asked is None else own_digest(asked)
    receipt = Receipt(
        wire.device_id,
        wire.signing_key,
        state.id,
        state.question,
        state.choices,
        wire.choice_index,
        wire.answered_at,
        wire.signature,
        version,
        digest,
        None if wire.number is msgspec.UNSET else wire.number,
        None
        if wire.comment is msgspec.UNSET
        else SignedComment(wire.comment.text, wire.comment.salt, wire.comment.sha256),
    )
    receipt.verify()
    return receipt


def _check_number(receipt: Receipt, asked: Question) -> None:
    """Check that whoever tapped the first choice had typed the number that this client was given to show."""
    wanted = asked.confirm_number
    if wanted is not None and receipt.choice_index == 0 and receipt.number != wanted:
        raise errors.InvalidReceipt("another number was typed than the one that was shown")
