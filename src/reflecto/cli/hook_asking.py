"""The questions of one call of a hook, within the time that the agent gives it."""

import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from reflecto.agents.asking import PLAIN_ONLY_CODES, Asked, Ended, NotAskedError, PlainOnlyError, decide
from reflecto.agents.hook_call import TETHER_SECONDS, HookCall, Prompt, Reply
from reflecto.cli.first_reply import within
from reflecto.cli.interruption import Interrupted
from reflecto.cli.open_calls import OpenCalls
from reflecto.client.errors import (
    AlreadyAnswered,
    AnswerTimeout,
    ApiError,
    BrokenContract,
    QuestionClosed,
    ReflectoError,
)
from reflecto.contract.limits import EXPIRES_IN_MAX_SECONDS, EXPIRES_IN_MIN_SECONDS

if TYPE_CHECKING:
    from reflecto.client.given import Given
    from reflecto.client.results import Answer, Question
    from reflecto.client.sync import Reflecto

T = TypeVar("T")

WITHDRAW_SECONDS: Final = 4.0
LAST_LOOK_SECONDS: Final = 1.0
RESERVE_SECONDS: Final = 10.0  # of the hook's time: to start, to withdraw, to print
CLOCK_SLACK_SECONDS: Final = 2.0  # the server's times are whole seconds; no agent repeats an answered call so soon


class HookAsking:
    """`timeout_seconds` is the time that the hook has; `clock` is monotonic seconds.

    `troubles` grows with each failure after which the client tries again. `reply_seconds` is how long the agent may be
    held up by a server that does not reply to a question; what it stored nevertheless ends by its tether.
    """

    def __init__(
        self,
        client: "Reflecto",
        timeout_seconds: float,
        troubles: Sequence[ReflectoError],
        clock: Callable[[], float] = time.monotonic,
        reply_seconds: float | None = None,
    ) -> None:
        self._client = client
        self._troubles = troubles
        self._clock = clock
        self._reply_seconds = reply_seconds
        self._until = clock() + timeout_seconds - min(RESERVE_SECONDS, timeout_seconds / 2)

    def decide(self, call: HookCall) -> Reply:
        """Return the reply to the agent: a decision if every question was answered with a tap, else nothing.

        Raises: ReflectoError of a question that could not be asked or waited for; Interrupted.
        """
        with (
            ExitStack() as shown,
            OpenCalls().claim(call.call_id) if call.call_id else nullcontext(0) as number,
        ):
            return _finish(decide(call, number, lambda prompt: self._question_of(prompt, shown)))

    def _question_of(self, prompt: Prompt, shown: ExitStack) -> "_Question":
        return _Question(self._client, prompt, self._until, self._troubles, self._clock, self._reply_seconds, shown)


@dataclass(slots=True)
class _Question:
    """`asking.PhoneQuestion` over the blocking client: its methods block, and never wait for an event loop."""

    client: "Reflecto"
    prompt: Prompt
    until: float
    troubles: Sequence[ReflectoError]
    clock: Callable[[], float]
    reply_seconds: float | None
    shown: ExitStack
    question: "Question | None" = None

    async def ask(self, key: str) -> Asked:
        try:
            asked = within(self.reply_seconds, lambda: self._ask(key))
        except Interrupted:
            # Nobody knows whether it is on the phone; asking with the same key finds it.
            with suppress(ReflectoError):
                self.question = self.question or self._try_to_create(key, WITHDRAW_SECONDS)
            raise
        if self.question is not None and self.question.confirm_number is not None:
            from reflecto.cli.hook_number import number_shown

            sign = number_shown(self.question.confirm_number, self.prompt.question, self._seconds_left())
            self.shown.enter_context(sign)
        return asked

    def _ask(self, key: str) -> Asked:
        started, troubles = self.clock(), len(self.troubles)
        try:
            found = self._try_to_create(key, self._seconds_left())
        except ApiError as error:
            if self.prompt.given and error.code in PLAIN_ONLY_CODES:
                raise PlainOnlyError from error
            raise
        if self.prompt.given:
            self._look_whether_details_arrived(found)
        was_repeated = len(self.troubles) > troubles
        is_open = not found.replayed or self._is_this_calls(found, started if was_repeated else None)
        if is_open:
            self.question = found
        return Asked(found.id, is_open)

    def _look_whether_details_arrived(self, question: "Question") -> None:
        """Withdraw a question that an older server has stored without its details. Raises: PlainOnlyError."""
        try:
            self.client.get(question)
        except BrokenContract as error:
            with suppress(ReflectoError):
                self.client.cancel(question, timeout=WITHDRAW_SECONDS)
            raise PlainOnlyError from error

    async def wait(self) -> Ended:
        try:
            return _answered(self.client.wait(self._asked(), self._seconds_left()))
        except QuestionClosed as closed:
            return Ended(closed.code)
        except AnswerTimeout:
            return Ended("pending")

    async def withdraw(self) -> Ended:
        question = self._asked()
        try:
            self.client.cancel(question, timeout=WITHDRAW_SECONDS)
        except AlreadyAnswered:
            return _answered(self.client.wait(question, LAST_LOOK_SECONDS))
        except QuestionClosed as closed:
            return Ended(closed.code)
        return Ended("cancelled")

    def _asked(self) -> "Question":
        if self.question is None:
            raise NotAskedError
        return self.question

    def _is_this_calls(self, question: "Question", repeated_since: float | None) -> bool:
        """Tell whether a question that was found may be waited for: it is open, or the one just asked.

        Where the reply to that was lost, a tap may have come before the request was repeated.
        """
        state = self.client.get(question.id)
        if state.status == "pending" or repeated_since is None:
            return state.status == "pending"
        asked_at = question.deadline - (state.expires_at - state.created_at)
        return asked_at > repeated_since - CLOCK_SLACK_SECONDS

    def _try_to_create(self, key: str, timeout: float) -> "Question":
        expires_in = min(max(int(self._seconds_left()), EXPIRES_IN_MIN_SECONDS), EXPIRES_IN_MAX_SECONDS)
        return self.client.create(
            self.prompt.question,
            self.prompt.choices,
            expires_in=expires_in,
            idempotency_key=key,
            timeout=timeout,
            tether=TETHER_SECONDS,
            **cast("Given", self.prompt.given),
        )

    def _seconds_left(self) -> float:
        return max(0.0, self.until - self.clock())


def _answered(answer: "Answer") -> Ended:
    return Ended("answered", answer.index, answer.comment)


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Run what awaits only methods that block: it ends at its first step, so there is no event loop to load."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("something waits for an event loop")
