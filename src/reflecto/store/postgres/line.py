"""A line of requests in front of one writer's connection: whoever comes last is served last, or refused."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Generic, TypeVar

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.locking import HELD_SECONDS
from reflecto.store.postgres.waiting import ANSWER_SECONDS, WAITING_MAX, Waiting
from reflecto.store.postgres.writer import Writer

W = TypeVar("W", bound=Waiting)


class Line(ABC, Generic[W]):
    """Serves those in `_waiting`, first come first, on `writer`'s connection, until it is closed."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: deque[W] = deque()
        self._arrived = asyncio.Event()
        self._closed = False
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self) -> None:
        """Commit what is waiting and stop. Whoever the database has no answer for by then hears so."""
        self._closed = True
        self._arrived.set()
        await asyncio.wait([self._task], timeout=ANSWER_SECONDS)
        self._writer.close()
        await self._task

    @abstractmethod
    async def _serve_next(self) -> None:
        """Take one or more of those that wait, and see to it that each hears what came of it."""

    async def _wait_for(self, waiting: W) -> Any:
        """Return what comes of it. Raises: StoreUnavailableError, OutcomeUnknownError; what `_serve_next` hands out."""
        if self._closed or len(self._waiting) >= WAITING_MAX:
            raise StoreUnavailableError("the store is closed" if self._closed else "the database has stalled")
        self._waiting.append(waiting)
        self._arrived.set()
        return await waiting.result()

    async def _put_off(self, held: Collection[W], *, is_all: bool = True) -> None:
        """Serve them later, behind all others; where `is_all` that there was, and nobody else waits, after a moment."""
        for each in held:
            each.is_undecided = bool
        if held and is_all and not self._waiting:
            if not self._closed:
                self._arrived.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(HELD_SECONDS):
                    await self._arrived.wait()
        self._waiting += held

    async def _work(self) -> None:
        while not self._closed or self._waiting:
            await self._arrived.wait()
            if not self._closed:
                self._arrived.clear()
            while self._waiting:
                await self._serve_next()
