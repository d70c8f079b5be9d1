"""Which failures are tried again, and when: full-jitter exponential back-off that honours Retry-After."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reflecto.client.errors import ApiError, ForeignReply, ReflectoError, ServerError, TooManyRequests, Unreachable

GIVE_UP_SECONDS: Final = 60.0  # a restart, also of a whole machine
_DOUBLINGS_MAX: Final = 30  # far beyond any cap, and well within a float


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Retry number n waits a random part of `base_seconds` x 2^n, at most `cap_seconds`, after any Retry-After.

    `jitter` returns that part, in [0, 1): clients that lost the same server must not come back at the same instant.
    `give_up_seconds` is how long a call that no question's end limits keeps trying; 0 means one try.
    """

    base_seconds: float = 0.5
    cap_seconds: float = 10.0  # somebody may be waiting for the server to come back
    give_up_seconds: float = GIVE_UP_SECONDS
    jitter: Callable[[], float] = random.random

    def delay_seconds(self, error: ReflectoError, attempt: int, *, is_waiting: bool) -> float | None:
        """Return the pause before the next try, or None where trying again is pointless.

        `attempt` counts failures so far, from 0. `is_waiting`: the server has stored the question.
        """
        if not is_passing(error, is_waiting=is_waiting):
            return None
        ceiling = min(self.cap_seconds, self.base_seconds * 2.0 ** min(attempt, _DOUBLINGS_MAX))
        return (error.retry_after or 0.0) + self.jitter() * ceiling


def is_passing(error: ReflectoError, *, is_waiting: bool) -> bool:
    """Tell whether the same request may succeed later.

    - A lost connection or a timeout, and any 5xx: proxies have codes of their own for a server that is restarting.
    - 429, except ten pending questions and full queues: only people end those.
    - While waiting, whatever else Reflecto did not write: proxies and sign-in pages have many words for a server that
      is away, and none of them ends a question. Before that, it is more likely the wrong URL, which is said at once.
    """
    match error:
        case Unreachable():
            return error.passing
        case ServerError():
            return is_waiting or error.status >= 500 or error.status == 429
        case TooManyRequests():
            return error.code not in {"too_many_pending", "queue_full"}
        case ForeignReply():
            return is_waiting
        case _:
            return False


def is_foreign(error: ApiError) -> bool:
    """Tell whether the refusal came from something else than Reflecto."""
    return error.code == f"http_{error.status}"


def is_surely_not_accepted(error: ReflectoError) -> bool:
    """Tell whether the server cannot have acted on the request, so that sending it again sends nothing twice.

    - No connection came about.
    - 429, and any 4xx of something before the server, which has passed nothing on then.
    - 503 in Reflecto's own words: it stores nothing then, unless the words are that it does not know. Of a proxy's 5xx
      nobody knows which side failed.
    """
    match error:
        case Unreachable():
            return not error.may_have_arrived
        case ServerError():
            if is_foreign(error):
                return error.status < 500
            return error.status == 503 and error.code != "outcome_unknown"
        case _:
            return isinstance(error, TooManyRequests)
