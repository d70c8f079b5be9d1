"""How an emergency goes on and ends, as pure functions. Source: api.md "POST /v1/messages.json", devices.md."""

from typing import Final

from reflecto.contract.limits import CALLBACK_TRIES_MAX, RECEIPT_SECONDS
from reflecto.core.model import Emergency, EmergencyEnd, EmergencyStatus
from reflecto.core.rules.outcomes import Verdict

CALLBACK_DELAYS_SECONDS: Final = (60, 300, 900, 3_600, 14_400)  # after each try that failed


def status_of(emergency: Emergency, now: float) -> EmergencyStatus:
    """Return how it stands: time ends it at the very second, whether or not that was written down."""
    if emergency.status == "active" and now >= emergency.expires_at:
        return "expired"
    return emergency.status


def is_kept(emergency: Emergency, now: float) -> bool:
    """Tell whether its receipt can still be read."""
    return now < emergency.created_at + RECEIPT_SECONDS


def judge_end(emergency: Emergency, end: EmergencyEnd, now: float) -> Verdict:
    """Decide an acknowledgement, a cancellation or the end by time: the first end counts, the same again is a repeat.

    Time has ended it only for who acknowledges or cancels; to write that down is what `expired` is for.
    """
    if emergency.status != "active":
        return Verdict.REPEATED if emergency.status == end.status else Verdict.CLOSED
    has_expired = now >= emergency.expires_at
    return Verdict.ACCEPTED if has_expired == (end.status == "expired") else Verdict.CLOSED


def next_round(emergency: Emergency, now: float) -> int:
    """Return when it rings again after a round at `now`, or its end where that is sooner."""
    return min(int(now) + emergency.retry_seconds, emergency.expires_at)


def next_call(calls: int, now: float) -> int | None:
    """Return when to call back again should the call that begins now, the `calls`-th, fail. None: not again."""
    if calls >= CALLBACK_TRIES_MAX:
        return None
    return int(now) + CALLBACK_DELAYS_SECONDS[min(calls, len(CALLBACK_DELAYS_SECONDS)) - 1]
