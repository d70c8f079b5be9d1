"""A tap on its way: what a phone may send as an answer to a question, and how it is told to others.

Source: devices.md "Answering", consent.md, end-to-end.md "Answers".
"""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from reflecto.contract.answering import AnswerRequest, Comment
from reflecto.contract.api_error import ApiError
from reflecto.contract.canonical_json import canonical_json
from reflecto.contract.envelopes import ClosedReceipt, CommentDigest, InteractionClosedPayload
from reflecto.contract.errors import INVALID_CHOICE, INVALID_COMMENT, INVALID_NUMBER, INVALID_SIGNATURE
from reflecto.contract.question_states import AnsweredBy, CommentReceipt, Receipt
from reflecto.core.model import Device, Interaction, Tap
from reflecto.core.sender import Sender
from reflecto.crypto.answers import SIGNATURE_BYTES, comment_digest
from reflecto.crypto.consent import comment_keys, open_comment, seal_comment
from reflecto.crypto.encoding import decode_base64, encode_base64

CONFIRMED_CHOICE: Final = 0  # the only one that a number is asked for


def tap_of(device: Device, interaction: Interaction, request: AnswerRequest) -> Tap:
    """Return the phone's answer as it is kept: its comment sealed to the asker.

    Raises: ApiError `invalid_choice`, `invalid_signature`, `invalid_number`, `invalid_comment`, where the question does
    not take what is there or needs what is not.
    """
    if request.choice_index >= interaction.choice_count:
        raise ApiError(INVALID_CHOICE)
    signature = _signature_of(request)
    is_v2 = request.v is not UNSET
    if is_v2 != (interaction.answer_version == 2):
        told = "This question is answered with" if not is_v2 else "This question is answered without"
        raise ApiError(INVALID_SIGNATURE, f'{told} "v": 2')
    if is_v2 and signature is None:
        raise ApiError(INVALID_SIGNATURE, "This question takes no answer without a signature")
    is_typed = request.number is not UNSET
    if is_typed and not interaction.asks_number:
        raise ApiError(INVALID_NUMBER, "This question asks for no number")
    if interaction.asks_number and request.choice_index == CONFIRMED_CHOICE and not is_typed:
        raise ApiError(INVALID_NUMBER)
    tap = Tap(
        choice_index=request.choice_index,
        answered_at=request.answered_at,
        device_id=device.id,
        device_label=device.label,
        signing_key=device.signing_key,
        signature=signature,
        number=request.number if isinstance(request.number, str) else None,
    )
    if isinstance(request.comment, UnsetType):
        return tap
    if interaction.comment_key is None:
        raise ApiError(INVALID_COMMENT, "This question takes no comment")
    comment = request.comment
    return msgspec.structs.replace(
        tap,
        comment=seal_comment(interaction.comment_key, canonical_json(comment)),
        comment_sha256=comment_digest(comment.text, comment.salt),
    )


def closing_of(interaction: Interaction, tap: Tap) -> InteractionClosedPayload:
    """Return what the other phones are told of a phone's answer: to be checked against what they show themselves."""
    receipt = _closed_receipt(tap) if interaction.answer_version == 2 else UNSET
    return InteractionClosedPayload("answered", tap.choice_index, tap.device_label, tap.device_id, receipt=receipt)


def comment_of(sender: Sender, interaction: Interaction) -> Comment | None:
    """Return the word that came with the answer, opened with its asker's token."""
    sealed = interaction.tap.comment if interaction.tap else None
    if sealed is None:
        return None
    keys = comment_keys(sender.bearer, interaction.id)
    return msgspec.json.decode(open_comment(keys, sealed), type=Comment)


def answered_by(tap: Tap | None) -> AnsweredBy | None:
    """Return the device whose tap won; None for a simulated one."""
    if tap is None or tap.device_id is None or tap.device_label is None:
        return None
    return AnsweredBy(tap.device_id, tap.device_label)


def receipt_of(interaction: Interaction, comment: Comment | None) -> Receipt | None:
    """Return what proves the answer to its asker; None unless the phone signed."""
    tap = interaction.tap
    if tap is None or tap.device_id is None or tap.signing_key is None or tap.signature is None:
        return None
    receipt = Receipt(
        device_id=tap.device_id,
        signing_key=encode_base64(tap.signing_key),
        choice_index=tap.choice_index,
        answered_at=tap.answered_at,
        signature=encode_base64(tap.signature),
    )
    if interaction.answer_version == 1:
        return receipt
    sha256 = tap.comment_sha256
    said = CommentReceipt(sha256, comment.text, comment.salt) if comment and sha256 else UNSET
    return msgspec.structs.replace(receipt, v=2, number=UNSET if tap.number is None else tap.number, comment=said)


def winning_answer(interaction: Interaction) -> dict[str, object]:
    """Return what a loser is told."""
    tap = interaction.tap
    return {
        "choice_index": tap.choice_index if tap else None,
        "answered_at": interaction.ended_at,
        "answered_by": answered_by(tap),
    }


def _closed_receipt(tap: Tap) -> ClosedReceipt | UnsetType:
    if tap.device_id is None or tap.signature is None:
        return UNSET
    return ClosedReceipt(
        device_id=tap.device_id,
        choice_index=tap.choice_index,
        answered_at=tap.answered_at,
        signature=encode_base64(tap.signature),
        number=UNSET if tap.number is None else tap.number,
        comment=UNSET if tap.comment_sha256 is None else CommentDigest(tap.comment_sha256),
        v=2,
    )


def _signature_of(request: AnswerRequest) -> bytes | None:
    if request.signature is UNSET:
        return None
    signature = decode_base64(request.signature, length=SIGNATURE_BYTES)
    if signature is None:
        raise ApiError(INVALID_SIGNATURE)
    return signature
