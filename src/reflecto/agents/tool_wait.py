"""Waiting for a tap, for no longer than an agent's client waits for a tool, and the results that tell how it went."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from reflecto.agents.tool_models import QuestionResult
from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import AnswerTimeout, QuestionCancelled, QuestionClosed, ReflectoError
from reflecto.client.results import Answer, Question
from reflecto.client.retry import is_passing

HOLD_SECONDS: Final = 50.0  # clients commonly give up on a tool after 60
PROGRESS_SECONDS: Final = 20.0  # what extends that where a client lets it, and keeps proxies from cutting the stream
_POLL_AFTER_SECONDS: Final = 1

Report = Callable[[float, str], Awaitable[None]]  # seconds since the call began, never fewer; what is going on

_NOT_CONSENT: Final = "that is not approval: do not do what was asked about"
_WAIT_ON: Final = "Call wait_for_answer with this id now, and again for as long as the status is pending."
_CANCELLED: Final = {
    "abandoned": "Nobody waited for the question",
    "dismissed": "The person refused the question",
    "wrong_number": "The number was typed wrong twice",
}
_ASKED: Final = "The question is on the person's phone"
_WAITING: Final = "Still waiting for the person's tap"


class WaitClock(Protocol):
    """What ends a wait: the time, or that the process is about to end."""

    def now(self) -> float:
        """Return seconds, by the clock of the client that waits."""

    async def pause(self, seconds: float) -> None:
        """Wait `seconds`, or less where the process is about to end."""

    @property
    def is_stopping(self) -> bool:
        """Whether this process is about to end, so that the agent should go on with its next one."""


@dataclass(frozen=True, slots=True)
class ToolWait:
    """One tool call: `until` is when it must have returned, both in seconds of `clock.now()`."""

    clock: WaitClock
    report: Report
    began: float
    until: float

    @property
    def seconds_left(self) -> float:
        """How many seconds the call may still take, 0 or more."""
        return max(0.0, self.until - self.clock.now())

    async def for_answer(self, client: AsyncReflecto, asked: Question | str, *, is_new: bool) -> QuestionResult:
        """Return how the question ended, or that it is pending. Raises: ReflectoError."""
        saying = _ASKED if is_new else _WAITING
        trouble: ReflectoError | None = None
        quiet_until = 0.0
        while True:
            await self.report(self.clock.now() - self.began, saying)
            saying = _WAITING
            seconds = min(PROGRESS_SECONDS, self.seconds_left)
            try:
                if (quiet := quiet_until - self.clock.now()) > 0:
                    await self.clock.pause(min(quiet, seconds))
                else:
                    return answered_result(await client.wait(asked, timeout=seconds))
            except AnswerTimeout:
                trouble = None
            except QuestionClosed as closed:
                return closed_result(closed)
            except ReflectoError as error:
                if not is_passing(error, is_waiting=True):
                    raise
                trouble = error
                quiet_until = self.clock.now() + (error.retry_after or _POLL_AFTER_SECONDS)
            if self.clock.is_stopping or not self.seconds_left:
                return pending_result(asked, trouble)


def answered_result(answer: Answer) -> QuestionResult:
    """Return the result of an answered question; its `next_step` names the choice, and the word that came with it."""
    said = f" and said: {answer.comment!r}" if answer.comment else ""
    return QuestionResult(
        status="answered",
        id=answer.question_id,
        choice=answer.choice,
        choice_index=answer.index,
        answered_by=answer.answered_by.label if answer.answered_by else None,
        answered_at=answer.answered_at,
        comment=answer.comment,
        receipt_verified=answer.receipt is not None,  # the client returns none that does not verify
        verified=answer.verified,
        next_step=f"The person tapped {answer.choice!r}{said}. Act on exactly that choice.",
    )


def pending_result(asked: Question | str, trouble: ReflectoError | None) -> QuestionResult:
    """Return that nobody has answered yet, as far as is known, with the number to show where there is one."""
    unsure = f" (as far as is known: {trouble})" if trouble else ""
    number = asked.confirm_number if isinstance(asked, Question) else None
    show = f"Show the number {number} to the person at this computer: they type it on the phone. " if number else ""
    return QuestionResult(
        status="pending",
        id=asked.id if isinstance(asked, Question) else asked,
        confirm_number=number,
        poll_after_s=_POLL_AFTER_SECONDS,
        next_step=f"{show}Nobody has answered yet{unsure}; silence is never consent. {_WAIT_ON}",
    )


def closed_result(closed: QuestionClosed) -> QuestionResult:
    """Return that the question ended without an answer."""
    if closed.code == "expired":
        said = f"Nobody answered in time; {_NOT_CONSENT}. Ask again only if it still has to be decided."
        return QuestionResult(status="expired", id=closed.question_id, next_step=said)
    reason = closed.reason if isinstance(closed, QuestionCancelled) else None
    said = f"{_CANCELLED.get(reason or '', 'The question was withdrawn')}; {_NOT_CONSENT}."
    return QuestionResult(status="cancelled", id=closed.question_id, next_step=said)
