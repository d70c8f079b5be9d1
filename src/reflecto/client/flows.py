"""The client's calls, as generators: each yields requests and pauses, and is sent what came of them.

A shell performs the steps, blocking or not; every decision is taken here. Time comes in with each `Outcome`, from
a clock that only has to be monotonic: the server's clock and the local one are never compared.
"""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from reflecto.client import errors
from reflecto.client.believing import NOBODY_NAMED, Trust
from reflecto.client.protocol import (
    HOLD_MAX_SECONDS,
    Draft,
    HttpReply,
    HttpRequest,
    cancel_request,
    create_request,
    simulate_request,
    state_request,
)
from reflecto.client.replies import read_created, read_state
from reflecto.client.results import Answer, Question, QuestionState
from reflecto.client.retry import RetryRules
from reflecto.contract.limits import EXPIRES_IN_MAX_SECONDS

GRACE_SECONDS: Final = 30.0  # after a question's end: an answer at the last moment may still have to be fetched
_POLL_PAUSE_SECONDS: Final = 1.0  # between polls that are not held back, where the server names no pause
_OVERRUN_SECONDS: Final = 2.0  # how late a reply that was held back to the last moment may arrive

_CANCELLED: Final = {  # by reason
    "abandoned": "nobody waited for the question",
    "revoked": "the token was revoked",
    "dismissed": "the question was refused on the phone",
    "wrong_number": "the number was typed wrong twice",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing for so long; `because` of this failure, or of the server's own pace if None."""

    seconds: float
    because: errors.ReflectoError | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a step, at `now` by the shell's clock: a reply, a failure, or (of a pause) neither."""

    now: float
    reply: HttpReply | None = None
    failure: errors.ReflectoError | None = None

    def expect_reply(self) -> HttpReply:
        """Return the reply. Raises: the failure."""
        if self.failure is not None:
            raise self.failure
        if self.reply is None:
            raise RuntimeError("the shell answered a request with a pause")
        return self.reply


Flow = Generator[HttpRequest | Pause, Outcome, T]
_Timed = tuple[T, HttpReply, float]


def create(draft: Draft, *, now: float, timeout_seconds: float | None, rules: RetryRules) -> Flow[Question]:
    """Store the question, with the same key at each try, so that a lost reply never prompts twice.

    Raises: ApiError, IdempotencyMismatch, BrokenContract, Unreachable.
    """
    wants_number = draft.given.get("confirm") == "number"
    give_up_at = math.inf if timeout_seconds is None else now + timeout_seconds
    failures: list[errors.ReflectoError] = []
    try:
        (created, replayed), reply, now = yield from try_until(
            partial(within, create_request(draft), give_up_at),
            partial(read_created, wants_number=wants_number),
            now=now,
            until=min(now + rules.give_up_seconds, give_up_at),
            rules=rules,
            failures=failures,
        )
    except errors.ReflectoError as error:
        if any(_may_be_stored(failure) for failure in failures):
            error.idempotency_key = draft.idempotency_key
        raise
    # A new question's time starts now. That of an older one is the server's to tell.
    left = _seconds_left(created.expires_at, reply, EXPIRES_IN_MAX_SECONDS) if replayed else draft.expires_in_seconds
    return Question(
        created.id,
        draft.question,
        draft.choices,
        created.expires_at,
        replayed,
        deadline=now + left,
        confirm_number=created.confirm_number or None,
        given=draft.given,
    )


def wait(
    asked: Question | str,
    *,
    now: float,
    timeout_seconds: float | None,
    rules: RetryRules,
    trust: Trust = NOBODY_NAMED,
) -> Flow[Answer]:
    """Poll until the question ends, through restarts and lost connections. `trust`: whose answer is taken.

    Raises: QuestionExpired, QuestionCancelled, AnswerTimeout, ApiError, BrokenContract, IdempotencyMismatch,
    Unreachable.
    """
    question_id = asked.id if isinstance(asked, Question) else asked
    read = partial(
        read_state, question_id=question_id, asked=asked if isinstance(asked, Question) else None, trust=trust
    )
    give_up_at = math.inf if timeout_seconds is None else now + timeout_seconds
    # `ends_at` bounds how long a lost server is looked for. Its own word that the question is pending outweighs it,
    # since a Date header may be wrong; only the question's whole lifetime bounds that.
    ends_at = asked.deadline if isinstance(asked, Question) else None
    latest_end = math.inf
    while True:
        polled_at = now
        until = min(give_up_at, max(now, now + rules.give_up_seconds if ends_at is None else ends_at) + GRACE_SECONDS)
        state, reply, now = yield from try_until(
            partial(_poll, question_id, until),
            read,
            now=now,
            until=until,
            rules=rules,
            is_waiting=True,
        )
        if state.answer is not None:
            return state.answer
        _raise_if_closed(state)
        lifetime = state.expires_at - state.created_at
        latest_end = min(latest_end, now + lifetime)
        if ends_at is None:
            ends_at = now + _seconds_left(state.expires_at, reply, lifetime)
        _raise_if_late(question_id, now, give_up_at=give_up_at, latest_end=latest_end)
        pace = min(reply.seconds_of("retry-after") or _POLL_PAUSE_SECONDS, HOLD_MAX_SECONDS)
        if now - polled_at < pace:  # the server did not hold the reply back
            now = (yield Pause(min(polled_at + pace, give_up_at) - now)).now


def get(asked: Question | str, *, now: float, rules: RetryRules, trust: Trust = NOBODY_NAMED) -> Flow[QuestionState]:
    """Read where a question stands; `trust` as in `wait`. Raises: ApiError, BrokenContract, Unreachable."""
    question_id = asked.id if isinstance(asked, Question) else asked
    state, _, _ = yield from try_until(
        partial(within, state_request(question_id), math.inf),
        partial(read_state, question_id=question_id, asked=asked if isinstance(asked, Question) else None, trust=trust),
        now=now,
        until=now + rules.give_up_seconds,
        rules=rules,
    )
    return state


def cancel(question_id: str, *, now: float, timeout_seconds: float | None, rules: RetryRules) -> Flow[None]:
    """Withdraw the question. Raises: AlreadyAnswered, QuestionExpired, ApiError, BrokenContract, Unreachable."""
    give_up_at = math.inf if timeout_seconds is None else now + timeout_seconds
    try:
        state, _, _ = yield from try_until(
            partial(within, cancel_request(question_id), give_up_at),
            partial(read_state, question_id=question_id),
            now=now,
            until=now + rules.give_up_seconds if timeout_seconds is None else give_up_at,
            rules=rules,
        )
    except errors.Conflict as error:
        if error.code == "interaction_closed" and error.details.get("status") == "expired":
            raise errors.QuestionExpired("the question had already expired", question_id=question_id) from error
        raise
    if state.status != "cancelled":
        raise errors.BrokenContract(f"the question was to be cancelled and is {state.status}")


def simulate(
    question_id: str, choice: str, *, now: float, rules: RetryRules, trust: Trust = NOBODY_NAMED
) -> Flow[Answer]:
    """Answer a test token's question; the same tap again is no error, so a lost reply does no harm.

    Raises: AlreadyAnswered, ApiError, BrokenContract, Unreachable.
    """
    state, _, _ = yield from try_until(
        partial(within, simulate_request(question_id, choice), math.inf),
        partial(read_state, question_id=question_id, trust=trust),
        now=now,
        until=now + rules.give_up_seconds,
        rules=rules,
    )
    if state.answer is None:
        raise errors.BrokenContract(f"the question was to be answered and is {state.status}")
    return state.answer


def try_until(
    build: Callable[[float, int], HttpRequest],
    read: Callable[[HttpReply], T],
    *,
    now: float,
    until: float,
    rules: RetryRules,
    is_waiting: bool = False,
    may_repeat: Callable[[errors.ReflectoError], bool] = lambda _: True,
    failures: list[errors.ReflectoError] | None = None,
) -> Flow[_Timed[T]]:
    """Send until a reply can be read, or a failure is final. The last try starts at `until` at the latest.

    `build` gets the time and the number of failures so far; `failures` collects them. A failure that `may_repeat`
    refuses is final, also where the rules would try again.
    """
    attempt = 0
    while True:
        outcome = yield build(now, attempt)
        now = outcome.now
        try:
            reply = outcome.expect_reply()
            return read(reply), reply, now
        except errors.ReflectoError as error:
            failure = error
        if failures is not None:
            failures.append(failure)
        delay = rules.delay_seconds(failure, attempt, is_waiting=is_waiting) if may_repeat(failure) else None
        if delay is None or now >= until or (failure.retry_after or 0.0) > until - now:
            raise failure
        now = (yield Pause(min(delay, until - now), because=failure)).now
        attempt += 1


def within(request: HttpRequest, give_up_at: float, now: float, _attempt: int) -> HttpRequest:
    """Build the same request at each try, with a timeout that leaves off soon after `give_up_at`."""
    return request.within(give_up_at - now + _OVERRUN_SECONDS)


def _poll(question_id: str, until: float, now: float, attempt: int) -> HttpRequest:
    """Build the next poll: after a failure one that is not held back, which soon tells whether the server is back."""
    hold_seconds = 0 if attempt else math.floor(max(0.0, min(HOLD_MAX_SECONDS, until - now)))
    return state_request(question_id, hold_seconds).within(until - now + _OVERRUN_SECONDS)


def _seconds_left(expires_at: int, reply: HttpReply, lifetime_seconds: float) -> float:
    """Return how long a question is still open by the server's own clock, which its Date header shows."""
    sent_at = reply.sent_at
    left = lifetime_seconds if sent_at is None else min(expires_at - sent_at, lifetime_seconds)
    return max(0.0, min(left, EXPIRES_IN_MAX_SECONDS))


def _may_be_stored(failure: errors.ReflectoError) -> bool:
    if isinstance(failure, errors.Unreachable):
        return failure.may_have_arrived
    return isinstance(failure, errors.ServerError) and failure.code != "unavailable"


def _raise_if_closed(state: QuestionState) -> None:
    if state.status == "expired":
        raise errors.QuestionExpired("nobody answered in time", question_id=state.id)
    if state.status == "cancelled":
        said = _CANCELLED.get(state.reason or "", "the question was withdrawn")
        raise errors.QuestionCancelled(said, question_id=state.id, reason=state.reason)


def _raise_if_late(question_id: str, now: float, *, give_up_at: float, latest_end: float) -> None:
    if now >= give_up_at:
        raise errors.AnswerTimeout("no answer within the timeout; the question is still open", question_id=question_id)
    if now >= latest_end + GRACE_SECONDS:
        raise errors.BrokenContract("the server calls the question pending after its end")
