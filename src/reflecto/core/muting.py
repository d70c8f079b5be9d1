"""What a muted sender is told, and how its messages arrive. Source: consent.md "Too many"."""

from math import ceil
from typing import Final

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.errors import SENDER_MUTED
from reflecto.contract.tokens import Priority, is_above
from reflecto.core.model import FOREVER, Token
from reflecto.core.rules.senders import is_muted

SILENT_PRIORITY: Final[Priority] = "low"  # the highest that makes no sound


def sender_muted(muted_until: int | None, now: float) -> ApiError:
    """Return the refusal of a token that is muted until then; for good, or where that is not known: no Retry-After."""
    if muted_until is None or muted_until == FOREVER:
        return ApiError(SENDER_MUTED)
    return ApiError(SENDER_MUTED, retry_after_seconds=max(1, ceil(muted_until - now)))


def refuse_if_muted(token: Token, now: float) -> None:
    """Refuse what would make a phone sound. Raises: ApiError `sender_muted`."""
    if is_muted(token, now):
        raise sender_muted(token.muted_until, now)


def hush(token: Token, priority: Priority, now: float) -> tuple[Priority, list[Caveat]]:
    """Return the priority with which a message arrives, and what its sender is told where the owner has muted it."""
    if not is_muted(token, now):
        return priority, []
    told = Caveat(SENDER_MUTED.code, "The owner has muted this sender: it arrives silently")
    return (SILENT_PRIORITY if is_above(priority, SILENT_PRIORITY) else priority), [told]
