"""The questions of one call of a hook, within the time that the agent gives it."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

from reflecto.agents.hook_call import TETHER_SECONDS, HookCall, Prompt, Reply, key_after
from reflecto.cli.interruption import Interrupted
from reflecto.cli.open_calls import OpenCalls
from reflecto.client.errors import AlreadyAnswered, AnswerTimeout, QuestionClosed, ReflectoError
from reflecto.contract.limits import EXPIRES_IN_MAX_SECONDS, EXPIRES_IN_MIN_SECONDS

if TYPE_CHECKING:
    from reflecto.client.results import Question
    from reflecto.client.sync import Reflecto

WITHDRAW_SECONDS: Final = 4.0
LAST_LOOK_SECONDS: Final = 1.0
RESERVE_SECONDS: Final = 10.0  # of the hook's time: to start, to withdraw, to print
LOOKALIKES_MAX: Final = 32  # identical calls of one prompt within the life of one question
CLOCK_SLACK_SECONDS: Final = 2.0  # the server's times are whole seconds; no agent repeats an answered call so soon


class HookAsking:
    """`timeout_seconds` is the time that the hook has; `clock` is monotonic seconds.

    `troubles` grows with each failure after which the client tries again.
    """

    def __init__(
        self,
        client: "Reflecto",
        timeout_seconds: float,
        troubles: Sequence[ReflectoError],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._troubles = troubles
        self._clock = clock
        self._open: Question | None = None
        self._until = clock() + timeout_seconds - min(RESERVE_SECONDS, timeout_seconds / 2)

    def decide(self, call: HookCall) -> Reply:
        """Return the reply to the agent: a decision if every question was answered with a tap, else nothing.

        Raises: ReflectoError of a question that could not be asked or waited for; Interrupted.
        """
        try:
            with OpenCalls().claim(call.call_id) if call.call_id else nullcontext(0) as number:
                return self._decide(call, number)
        except (Interrupted, ReflectoError):
            if self._open is not None:
                with suppress(ReflectoError):
                    self._client.cancel(self._open, timeout=WITHDRAW_SECONDS)
            raise

    def _decide(self, call: HookCall, number: int) -> Reply:
        taps = []
        for prompt in call.prompts:
            tap = self._tap(prompt.of_call(number))
            if tap is None or tap == prompt.handover:
                return {}
            taps.append(tap)
        return call.decide(taps)

    def _tap(self, prompt: Prompt) -> int | None:
        """Return the index of the choice that was tapped in time."""
        question = self._ask(prompt)
        if question is None:
            return None
        try:
            tap = self._client.wait(question, self._seconds_left()).index
        except QuestionClosed:
            tap = None
        except AnswerTimeout:
            tap = self._last_look(question)
        self._open = None
        return tap

    def _ask(self, prompt: Prompt) -> "Question | None":
        """Return a question that is open, of this call or a repeat of it."""
        key = prompt.key
        for _ in range(LOOKALIKES_MAX):
            started, troubles = self._clock(), len(self._troubles)
            question = self._create(prompt, key)
            was_repeated = len(self._troubles) > troubles
            if not question.replayed or self._is_this_calls(question, started if was_repeated else None):
                self._open = question
                return question
            key = key_after(key, question.id)
        return None

    def _is_this_calls(self, question: "Question", repeated_since: float | None) -> bool:
        """Tell whether a question that was found may be waited for: it is open, or the one just asked.

        Where the reply to that was lost, a tap may have come before the request was repeated.
        """
        state = self._client.get(question.id)
        if state.status == "pending" or repeated_since is None:
            return state.status == "pending"
        asked_at = question.deadline - (state.expires_at - state.created_at)
        return asked_at > repeated_since - CLOCK_SLACK_SECONDS

    def _create(self, prompt: Prompt, key: str) -> "Question":
        try:
            return self._try_to_create(prompt, key, self._seconds_left())
        except Interrupted:
            # Nobody knows whether it is on the phone; asking with the same key finds it.
            with suppress(ReflectoError):
                self._open = self._try_to_create(prompt, key, WITHDRAW_SECONDS)
            raise

    def _try_to_create(self, prompt: Prompt, key: str, timeout: float) -> "Question":
        expires_in = min(max(int(self._seconds_left()), EXPIRES_IN_MIN_SECONDS), EXPIRES_IN_MAX_SECONDS)
        return self._client.create(
            prompt.question,
            prompt.choices,
            expires_in=expires_in,
            idempotency_key=key,
            timeout=timeout,
            tether=TETHER_SECONDS,
        )

    def _last_look(self, question: "Question") -> int | None:
        """Withdraw the question; a tap that was faster counts."""
        try:
            self._client.cancel(question, timeout=WITHDRAW_SECONDS)
        except AlreadyAnswered:
            return self._client.wait(question, LAST_LOOK_SECONDS).index
        except QuestionClosed:
            pass
        return None

    def _seconds_left(self) -> float:
        return max(0.0, self._until - self._clock())
