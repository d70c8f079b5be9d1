"""Whether an owner may have one more token, reminder or emergency. Source: api.md "Limits"."""

from collections.abc import Collection

from reflecto.contract.limits import EMERGENCIES_MAX_PER_OWNER, REMINDERS_MAX_PER_OWNER, TOKENS_MAX_PER_OWNER
from reflecto.core.rules.lookalikes import is_taken
from reflecto.core.rules.outcomes import Addition


def judge_token(label: str, others: Collection[str], *, is_maker_there: bool) -> Addition:
    """Decide a new token of this name beside the owner's `others`; its maker is the owner, and the phone."""
    if len(others) >= TOKENS_MAX_PER_OWNER:
        return Addition.TOO_MANY
    if not is_maker_there:
        return Addition.REVOKED
    return Addition.LABEL_TAKEN if is_taken(label, others) else Addition.ADDED


def judge_reminder(waiting: int, *, is_token_live: bool) -> Addition:
    """Decide a new reminder beside those that wait."""
    return _judge(waiting, REMINDERS_MAX_PER_OWNER, is_token_live=is_token_live)


def judge_emergency(active: int, *, is_token_live: bool) -> Addition:
    """Decide a new emergency beside those that have not ended."""
    return _judge(active, EMERGENCIES_MAX_PER_OWNER, is_token_live=is_token_live)


def _judge(count: int, most: int, *, is_token_live: bool) -> Addition:
    if not is_token_live:
        return Addition.REVOKED
    return Addition.TOO_MANY if count >= most else Addition.ADDED
