"""What a question says, sealed for its sender's token, and what its asker reads of it.

Source: api.md "POST/GET interactions".
"""

import msgspec
from msgspec import UNSET, UnsetType

from reflecto.contract.details import Details, Source
from reflecto.contract.ids import new_id
from reflecto.contract.interactions import CreateInteractionRequest
from reflecto.contract.question_states import (
    Commenting,
    Confirm,
    Danger,
    InteractionState,
    Reason,
    StateComment,
    Status,
)
from reflecto.core.answers import answered_by, comment_of, receipt_of
from reflecto.core.model import Interaction
from reflecto.core.rules.interactions import status_at
from reflecto.core.sender import Sender
from reflecto.crypto.answers import question_digest
from reflecto.crypto.consent import comment_keys
from reflecto.crypto.envelopes import open_blob, seal


class Content(msgspec.Struct, frozen=True):
    """The JSON inside `Interaction.sealed`. All but the first two is there only where one of SIGNED_FIELDS was given.

    The digest is in here, as a hash in the open would let the store's reader test guesses.
    """

    question: str
    choices: tuple[str, ...]
    details: Details | UnsetType = UNSET
    source: Source | UnsetType = UNSET
    danger: Danger | UnsetType = UNSET
    confirm: Confirm | UnsetType = UNSET
    comment: Commenting | UnsetType = UNSET
    digest: str | UnsetType = UNSET


def new_interaction(sender: Sender, request: CreateInteractionRequest, now: float) -> Interaction:
    """Return the question as it is to be stored."""
    given = request.given()
    digest = question_digest(request.question, request.choices, **given) if given else UNSET
    text = msgspec.json.encode(Content(request.question, request.choices, **given, digest=digest))
    content_mark = sender.keys.mark("content", text)
    key = request.idempotency_key
    interaction_id = new_id("int")
    takes_comment = request.comment == "optional"
    return Interaction(
        id=interaction_id,
        owner_id=sender.token.owner_id,
        token_id=sender.token.id,
        test=sender.token.test,
        repeat_mark=content_mark if key is UNSET else sender.keys.mark("key", key.encode()),
        content_mark=content_mark,
        sealed=seal(sender.keys.sealing, text),
        choice_count=len(request.choices),
        created_at=int(now),
        expires_at=int(now) + request.expires_in,
        tether=None if request.tether is UNSET else request.tether,
        awaited_until=None if request.tether is UNSET else now,
        answer_version=2 if given else 1,
        asks_number=request.confirm == "number",
        comment_key=comment_keys(sender.bearer, interaction_id).public if takes_comment else None,
    )


def content_of(sender: Sender, interaction: Interaction) -> Content:
    """Open what its sender's token sealed."""
    return msgspec.json.decode(open_blob(sender.keys.sealing, interaction.sealed), type=Content)


def state_of(sender: Sender, interaction: Interaction, now: float) -> InteractionState:
    """Return the question as its asker reads it."""
    text = content_of(sender, interaction)
    tap = interaction.tap
    status = status_at(interaction, now)
    comment = comment_of(sender, interaction)
    is_simulated = interaction.answer_version == 2 and tap is not None and tap.device_id is None
    return InteractionState(
        id=interaction.id,
        status=status,
        question=text.question,
        choices=text.choices,
        choice=text.choices[tap.choice_index] if tap else None,
        choice_index=tap.choice_index if tap else None,
        created_at=interaction.created_at,
        expires_at=interaction.expires_at,
        answered_at=interaction.ended_at if tap else None,
        answered_by=answered_by(tap),
        receipt=receipt_of(interaction, comment),
        reason=reason_of(interaction, status),
        digest=text.digest,
        comment=StateComment(comment.text) if comment else UNSET,
        simulated=True if is_simulated else UNSET,
    )


def reason_of(interaction: Interaction, status: Status) -> Reason | UnsetType:
    """Return why it is cancelled; UNSET for one that is not, or that ended before reasons were kept."""
    if status != "cancelled":
        return UNSET
    if interaction.status == "pending":  # nobody has stored its end yet
        return "abandoned"
    return interaction.reason or UNSET
