"""Questions whose result has not reached the agent, so that a repeated call prompts once and nothing stays open.

An agent's client loses a result when it gives up, disconnects or cancels. What it does then differs: it repeats the
call soon, or never. So the question stays open for a short while, in which the same call takes it up again, answer
included; after that it is withdrawn, for nobody is left to read the answer. A result that was handed over is read:
the same call is then a new question, however soon it comes.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import ReflectoError
from reflecto.client.results import Question

GRACE_SECONDS: Final = 30.0  # an agent that repeats a failed call has to be told of the failure and to think first
WITHDRAW_SECONDS: Final = 2.0  # at the end of the process; clients kill one that takes longer


@dataclass(frozen=True, slots=True)
class Content:
    """Whose question it is, and everything that is asked. Only an equal one is the same question."""

    caller: str
    question: str
    choices: tuple[str, ...]
    expires_in: int
    tether: int | None = None
    call_id: str | None = None  # of the tool's call that is asked about, where the agent names it


@dataclass(eq=False, slots=True)
class Unread:
    """One question: the key that finds it again, and itself once the server has confirmed it."""

    content: Content
    client: AsyncReflecto
    key: str = field(default_factory=lambda: f"mcp-{uuid.uuid4()}")
    question: Question | None = None
    withdrawal: "asyncio.Task[None] | None" = None

    async def ask(self, timeout_seconds: float) -> Question:
        """Ask, or find what was asked before. Raises: ReflectoError."""
        self.question = await self.client.create(
            self.content.question,
            self.content.choices,
            expires_in=self.content.expires_in,
            idempotency_key=self.key,
            timeout=timeout_seconds,
            tether=self.content.tether,
        )
        return self.question

    async def withdraw(self) -> None:
        """Withdraw it. What the server cannot be told ends by itself when it expires."""
        with suppress(ReflectoError):
            # Cut off before the reply, nobody knows whether it was stored; asking with its key finds it.
            question = self.question or await self.ask(0.0)
            await self.client.cancel(question, timeout=WITHDRAW_SECONDS)


class UnreadQuestions:
    """All of one process. `pause` waits so many seconds, or less where the process is to end.

    `withdrawals` are under way, or wait for their time.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]], grace_seconds: float = GRACE_SECONDS) -> None:
        self._pause = pause
        self._grace_seconds = grace_seconds
        self._asking: set[Unread] = set()
        self._left: list[Unread] = []
        self.withdrawals: set[asyncio.Task[None]] = set()

    @contextmanager
    def asking(self, content: Content, client: AsyncReflecto) -> Iterator[Unread]:
        """Give what is to be asked, or was left open. A block that is cancelled, or fails, leaves it open again."""
        unread = self._take(content) or Unread(content, client)
        unread.client = client
        self._asking.add(unread)
        try:
            yield unread
        except BaseException as error:
            was_refused = isinstance(error, ReflectoError) and not error.idempotency_key
            if unread.question or not was_refused:
                self._leave(unread)
            raise
        finally:
            self._asking.discard(unread)

    async def close(self) -> None:
        """Withdraw everything now."""
        left, self._left = self._left, []
        for each in left:
            if each.withdrawal is not None:
                each.withdrawal.cancel()
        withdrawals = (each.withdraw() for each in (*self._asking, *left))
        with anyio.move_on_after(WITHDRAW_SECONDS, shield=True):
            await asyncio.gather(*withdrawals, *self.withdrawals, return_exceptions=True)

    def _take(self, content: Content) -> Unread | None:
        for unread in self._left:
            if unread.content == content:
                self._left.remove(unread)
                if unread.withdrawal is not None:
                    unread.withdrawal.cancel()
                return unread
        return None

    def _leave(self, unread: Unread) -> None:
        self._left.append(unread)
        unread.withdrawal = asyncio.create_task(self._withdraw_later(unread))
        self.withdrawals.add(unread.withdrawal)
        unread.withdrawal.add_done_callback(self.withdrawals.discard)

    async def _withdraw_later(self, unread: Unread) -> None:
        await self._pause(self._grace_seconds)
        self._left.remove(unread)
        if unread.question or not unread.content.tether:  # else it has ended, if it ever was asked
            await unread.withdraw()
