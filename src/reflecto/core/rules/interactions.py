"""How a question goes on and ends. Source: api.md "POST/GET/DELETE interactions", devices.md "Answering"."""

from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from reflecto.contract.limits import PENDING_MAX_PER_OWNER, RETENTION_SECONDS
from reflecto.contract.question_states import Reason, Status
from reflecto.core.model import Interaction, Tap
from reflecto.core.rules.outcomes import Creation, Verdict
from reflecto.core.rules.tethers import abandoned_at, is_abandoned

LIFECYCLE: Final[dict[Status, dict[Literal["answer", "cancel"], Verdict]]] = {
    "pending": {"answer": Verdict.ACCEPTED, "cancel": Verdict.ACCEPTED},
    "answered": {"answer": Verdict.ALREADY_ANSWERED, "cancel": Verdict.ALREADY_ANSWERED},
    "cancelled": {"answer": Verdict.CLOSED, "cancel": Verdict.REPEATED},
    "expired": {"answer": Verdict.CLOSED, "cancel": Verdict.CLOSED},
}


def answered(interaction: Interaction, tap: Tap, now: float) -> Interaction:
    """Return the question as it is once `tap` has been accepted."""
    return replace(interaction, status="answered", ended_at=int(now), tap=tap)


def cancelled(interaction: Interaction, reason: Reason, now: float) -> Interaction:
    """Return the question as it is once it has been withdrawn."""
    return replace(interaction, status="cancelled", ended_at=int(now), reason=reason)


def judge_expiry(interaction: Interaction, now: float) -> Interaction | None:
    """Return the question as it is once it is stored that its time ran out. None: it did not, or that is stored."""
    if interaction.status != "pending" or status_at(interaction, now) != "expired":
        return None
    return replace(interaction, status="expired")


def status_at(interaction: Interaction, now: float) -> Status:
    """Return the status; a pending question ends when `now` reaches `expires_at`, or earlier by its tether."""
    if interaction.status == "pending" and is_abandoned(interaction, now):
        return "cancelled"
    if interaction.status == "pending" and now >= interaction.expires_at:
        return "expired"
    return interaction.status


def is_retained(interaction: Interaction, now: float) -> bool:
    """Tell whether the question can still be read: until 24 h after it ended."""
    ended_at = interaction.ended_at or abandoned_at(interaction) or interaction.expires_at
    return now < ended_at + RETENTION_SECONDS


class CreationFacts(msgspec.Struct, frozen=True):
    """What decides whether a question may be asked: `pending` are its owner's, live and test ones counted apart."""

    is_token_live: bool
    muted_until: int | None  # the token is
    repeated: Interaction | None
    pending: int
    phones: frozenset[str]


def judge_creation(facts: CreationFacts, seen_phones: frozenset[str] | None, now: float) -> Creation:
    """Decide whether it may be asked, as far as its prompts fit; `seen_phones` are those they were sealed for."""
    if not facts.is_token_live:
        return Creation.TOKEN_REVOKED
    if facts.repeated is not None:
        return Creation.REPEATED
    if facts.muted_until is not None and now < facts.muted_until:
        return Creation.SENDER_MUTED
    if facts.pending >= PENDING_MAX_PER_OWNER:
        return Creation.TOO_MANY_PENDING
    if seen_phones is not None and facts.phones != seen_phones:
        return Creation.PHONES_CHANGED
    return Creation.CREATED


def judge_answer(interaction: Interaction, tap: Tap, now: float) -> Verdict:
    """Decide a tap. The winner's own tap, repeated, stays the winner."""
    won = interaction.tap
    if won is not None and (won.device_id, won.choice_index) == (tap.device_id, tap.choice_index):
        return Verdict.REPEATED
    return LIFECYCLE[status_at(interaction, now)]["answer"]


def judge_wrong_number(interaction: Interaction, tap: Tap, now: float) -> tuple[Verdict, Interaction]:
    """Decide a tap with a wrong number, and return the question as it leaves it: the second one cancels it.

    A tap that comes again, its reply having been lost, is no second one: it has the signature of the first.
    """
    verdict = LIFECYCLE[status_at(interaction, now)]["answer"]
    if verdict is not Verdict.ACCEPTED:
        return verdict, interaction
    if interaction.wrong_signature is None:
        return Verdict.ACCEPTED, replace(interaction, wrong_signature=tap.signature)
    if interaction.wrong_signature == tap.signature:
        return Verdict.REPEATED, interaction
    return Verdict.ACCEPTED, cancelled(interaction, "wrong_number", now)


def judge_cancel(interaction: Interaction, now: float) -> Verdict:
    """Decide a withdrawal."""
    return LIFECYCLE[status_at(interaction, now)]["cancel"]
