"""`agents.kept_questions.QuestionKeeper` for several processes: a call that comes again finds its question at each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from uuid import uuid4

import msgspec

from reflecto.agents.kept_questions import KEEP_SECONDS, Content, KeptQuestion
from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import Unreachable
from reflecto.core.clock import Clock
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.ports.unread import UnreadQuestion, UnreadQuestions
from reflecto.crypto.tokens import TokenKeys

AGAIN_SECONDS: Final = 1.0  # where the store could not be written


class SharedQuestions:
    """What this process notes of unread questions. `closed`: the server stops, and what it left undone runs out."""

    def __init__(self, unread: UnreadQuestions, clock: Clock, closed: asyncio.Event) -> None:
        self._unread = unread
        self._clock = clock
        self._closed = closed
        self._noting: set[asyncio.Task[None]] = set()

    def of_token(self, token: str) -> "TokenQuestions":
        """Return the keeper of a token's questions."""
        return TokenQuestions(self, TokenKeys.derive(token))

    async def close(self) -> None:
        """Finish what is being noted; another process withdraws what is kept."""
        await asyncio.gather(*self._noting)

    async def begin(self, content: Content, keys: TokenKeys, seconds: float) -> str:
        """Return the key under which to ask. Raises: StoreUnavailableError."""
        key = f"mcp-{uuid4()}"
        question = UnreadQuestion(
            key=key,
            token_id=content.caller,
            content_mark=keys.mark("content", msgspec.json.encode(content)),
            repeat_mark=keys.mark("key", key.encode()),
            withdraw_at=self._clock.now() + seconds + KEEP_SECONDS,
        )
        return await self._unread.begin(question)

    def keep(self, key: str) -> None:
        """Let the same call take the question up, for a while."""
        withdraw_at = self._clock.now() + KEEP_SECONDS
        self._note(lambda: self._unread.keep(key, withdraw_at))

    def drop(self, key: str) -> None:
        """Forget the question."""
        self._note(lambda: self._unread.drop(key))

    def _note(self, act: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.create_task(self._until_noted(act))  # whoever asked may be gone
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _until_noted(self, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await act()
            except StoreUnavailableError:
                if self._closed.is_set():
                    return
                await self._clock.wait(self._closed, self._clock.now() + AGAIN_SECONDS)
            else:
                return


class TokenQuestions:
    """`QuestionKeeper` of one token."""

    def __init__(self, shared: SharedQuestions, keys: TokenKeys) -> None:
        self._shared = shared
        self._keys = keys

    @asynccontextmanager
    async def asking(self, content: Content, client: AsyncReflecto, seconds: float) -> AsyncIterator[KeptQuestion]:
        """Give a new question, or one whose result was lost. Raises: Unreachable, before anybody was asked."""
        kept = KeptQuestion(content, client, await self._begin(content, seconds))
        try:
            yield kept
        except BaseException as error:
            if kept.may_be_asked(error):
                self._shared.keep(kept.key)
            else:
                self._shared.drop(kept.key)
            raise
        self._shared.drop(kept.key)

    async def _begin(self, content: Content, seconds: float) -> str:
        beginning = asyncio.create_task(self._shared.begin(content, self._keys, seconds))
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:  # the key may be that of a question that is on the phone
            beginning.add_done_callback(self._keep_begun)
            raise
        except StoreUnavailableError as error:
            raise Unreachable(f"nobody was asked: {error}") from error

    def _keep_begun(self, beginning: asyncio.Task[str]) -> None:
        if not beginning.cancelled() and beginning.exception() is None:
            self._shared.keep(beginning.result())
