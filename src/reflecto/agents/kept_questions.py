"""Questions whose answer has not reached the agent: kept for a repeated call, which then prompts nobody twice.

An agent's client loses the result of a call when it gives up, disconnects or cancels. Then it repeats the call soon,
or never. So the question is kept open for a short while, in which the same call takes it up again, with its answer if
there is one. After that it is withdrawn, because nobody would read the answer. Once a result was handed over, the
same call is a new question, however soon it comes.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from reflecto.agents.asking import NotAskedError
from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import ReflectoError
from reflecto.client.given import Given
from reflecto.client.results import Question

KEEP_SECONDS: Final = 30.0  # an agent repeats a failed call after it was told of the failure and has thought
WITHDRAW_SECONDS: Final = 2.0  # at the end of the process; clients kill one that takes longer


def _nothing_given() -> Given:
    return {}


@dataclass(frozen=True, slots=True)
class Content:
    """Whose question it is, and everything that is asked. Only an equal one is the same question."""

    caller: str
    question: str
    choices: tuple[str, ...]
    expires_in: int
    tether: int | None = None
    call_id: str | None = None  # of the tool's call that is asked about, where the agent names it
    given: Given = field(default_factory=_nothing_given)


@dataclass(eq=False, slots=True)
class KeptQuestion:
    """One question: its idempotency key, under which asking again finds it, and what the server made of it."""

    content: Content
    client: AsyncReflecto
    key: str = field(default_factory=lambda: f"mcp-{uuid.uuid4()}")
    question: Question | None = None
    withdrawal: "asyncio.Task[None] | None" = None

    def asked(self) -> Question:
        """Return the question that the server has confirmed. Raises: NotAskedError."""
        if self.question is None:
            raise NotAskedError
        return self.question

    def may_be_asked(self, error: BaseException) -> bool:
        """Return whether it may be on the phone, after this error: not where the server has refused it."""
        was_refused = isinstance(error, ReflectoError) and not error.idempotency_key
        return self.question is not None or not was_refused

    async def ask(self, key: str, timeout_seconds: float) -> Question:
        """Ask under this key, or find what was asked under it. Raises: ReflectoError."""
        self.question = await self.client.create(
            self.content.question,
            self.content.choices,
            expires_in=self.content.expires_in,
            idempotency_key=key,
            timeout=timeout_seconds,
            tether=self.content.tether,
            **self.content.given,
        )
        return self.question

    async def withdraw(self) -> None:
        """Withdraw it. If the server cannot be told, it stays open until it expires."""
        with suppress(ReflectoError):
            # Cut off before the reply, nobody knows whether it was stored; asking with its key finds it.
            question = self.question or await self.ask(self.key, 0.0)
            await self.client.cancel(question, timeout=WITHDRAW_SECONDS)


class QuestionKeeper(Protocol):
    """Where questions are kept whose results were lost."""

    def asking(
        self, content: Content, client: AsyncReflecto, seconds: float, /
    ) -> AbstractAsyncContextManager[KeptQuestion]:
        """Give a new question, or the kept one of the same content. If the block fails or is cancelled, it is kept.

        The block takes at most `seconds`.
        """


class KeptQuestions:
    """All of one process. `pause` waits so many seconds, or less if the process is about to end.

    `withdrawals` are under way, or wait for their time.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]], keep_seconds: float = KEEP_SECONDS) -> None:
        self._pause = pause
        self._keep_seconds = keep_seconds
        self._asking: set[KeptQuestion] = set()
        self._kept: list[KeptQuestion] = []
        self.withdrawals: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def asking(self, content: Content, client: AsyncReflecto, _seconds: float) -> AsyncIterator[KeptQuestion]:
        """Give a new question, or the kept one of the same content. If the block fails or is cancelled, it is kept."""
        kept = self._take(content) or KeptQuestion(content, client)
        kept.client = client
        self._asking.add(kept)
        try:
            yield kept
        except BaseException as error:
            if kept.may_be_asked(error):
                self._keep(kept)
            raise
        finally:
            self._asking.discard(kept)

    async def close(self) -> None:
        """Withdraw everything now."""
        kept, self._kept = self._kept, []
        for each in kept:
            if each.withdrawal is not None:
                each.withdrawal.cancel()
        withdrawals = (each.withdraw() for each in (*self._asking, *kept))
        with anyio.move_on_after(WITHDRAW_SECONDS, shield=True):
            await asyncio.gather(*withdrawals, *self.withdrawals, return_exceptions=True)

    def _take(self, content: Content) -> KeptQuestion | None:
        for kept in self._kept:
            if kept.content == content:
                self._kept.remove(kept)
                if kept.withdrawal is not None:
                    kept.withdrawal.cancel()
                return kept
        return None

    def _keep(self, kept: KeptQuestion) -> None:
        self._kept.append(kept)
        kept.withdrawal = asyncio.create_task(self._withdraw_later(kept))
        self.withdrawals.add(kept.withdrawal)
        kept.withdrawal.add_done_callback(self.withdrawals.discard)

    async def _withdraw_later(self, kept: KeptQuestion) -> None:
        await self._pause(self._keep_seconds)
        self._kept.remove(kept)
        if kept.question or not kept.content.tether:  # else it has ended, if it ever was asked
            await kept.withdraw()
