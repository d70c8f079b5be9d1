"""Verbs in batches: what waits while a batch is under way is the next one, in one transaction.

Each batch locks its owners, loads what its verbs need, lets each verb judge in the order of arrival, and writes.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, TypeVar, cast

import asyncpg

from reflecto.core.ports.store import AlreadyKeptError, StoreUnavailableError
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.locking import HELD_SECONDS, Locking
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.news import NewsFeed
from reflecto.store.postgres.waiting import ANSWER_SECONDS, WAITING_MAX, NobodyWaitsError, Waiting
from reflecto.store.postgres.writer import Writer
from reflecto.store.postgres.writing import write

T = TypeVar("T")
Judge = Callable[[Facts], T]
BATCH_VERBS: Final = 256
BATCH_BYTES: Final = 4 * 1024 * 1024

logger = logging.getLogger(__name__)


class _Verb(Waiting):
    """A verb that waits for its batch; `size` are the bytes it brings."""

    __slots__ = ("judge", "needs", "size")

    def __init__(self, needs: Needs, judge: Judge[Any]) -> None:
        super().__init__()
        self.needs = needs
        self.judge = judge
        self.size = needs.size()


_Judged = tuple[list[tuple[_Verb, Any]], list[_Verb]]  # verbs with their results, and verbs that are still to come


class Batches:
    """Runs verbs on `writer`'s connection, and tells the other processes with `news`."""

    def __init__(self, writer: Writer, locking: Locking, news: NewsFeed) -> None:
        self._writer = writer
        self._locking = locking
        self._news = news
        self._has_news = False  # what the transaction under way has changed is news
        self._waiting: list[_Verb] = []
        self._arrived = asyncio.Event()
        self._closed = False
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def run(self, needs: Needs, judge: Judge[T]) -> T:
        """Return what `judge` returned, once it is durable.

        Raises: StoreUnavailableError, nothing happened; OutcomeUnknownError, it may have; AlreadyKeptError.
        """
        if self._closed or len(self._waiting) >= WAITING_MAX:
            raise StoreUnavailableError("the store is closed" if self._closed else "the database has stalled")
        verb = _Verb(needs, judge)
        self._waiting.append(verb)
        self._arrived.set()
        return cast("T", await verb.result())

    async def close(self) -> None:
        """Commit what is waiting and stop. Whoever the database has no answer for by then hears so."""
        self._closed = True
        self._arrived.set()
        await asyncio.wait([self._task], timeout=ANSWER_SECONDS)
        self._writer.close()
        await self._task

    async def _work(self) -> None:
        while not self._closed or self._waiting:
            await self._arrived.wait()
            if not self._closed:
                self._arrived.clear()
            while batch := self._next():
                await self._settle(batch)

    def _next(self) -> list[_Verb]:
        """Return the next batch: verbs that still have somebody waiting, as many as one transaction should have."""
        batch: list[_Verb] = []
        size, taken = 0, 0
        for verb in self._waiting:
            if len(batch) >= BATCH_VERBS or size >= BATCH_BYTES:
                break
            taken += 1
            if not verb.future.done():
                batch.append(verb)
                size += verb.size
        del self._waiting[:taken]
        return batch

    async def _settle(self, batch: list[_Verb]) -> None:
        """Commit the batch and hand out what came of it; where that fails, each verb by itself.

        Where another transaction holds an owner for long, only that owner's verbs wait for it, behind all others.
        """
        runs = count()
        try:
            results, held = await self._writer.commit(
                lambda connection: self._judge(connection, batch, idle_only=next(runs) > 0), len(batch)
            )
        except NobodyWaitsError:
            return
        except (asyncpg.PostgresError, StoreUnavailableError) as error:
            await self._fail(batch, error)
        except Exception as error:
            if len(batch) == 1:
                logger.exception("a verb failed")
            await self._fail(batch, error)
        else:
            if self._has_news:
                self._news.hint()
            for verb, result in results:
                if isinstance(result, AlreadyKeptError):
                    verb.fail(result)
                else:
                    verb.succeed(result)
            await self._put_off(held, is_all=not results)

    async def _put_off(self, held: list[_Verb], *, is_all: bool) -> None:
        """Do what was held later, behind all others; where there is nothing else to do, after a moment."""
        for verb in held:
            verb.is_undecided = bool
        if held and is_all and not self._waiting:
            if not self._closed:
                self._arrived.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(HELD_SECONDS):
                    await self._arrived.wait()
        self._waiting += held

    async def _fail(self, batch: list[_Verb], error: Exception) -> None:
        """Hand out the error to all, or where it may be of one verb's rules or statements, try each by itself."""
        if len(batch) > 1 and not isinstance(error, StoreUnavailableError):
            for verb in batch:
                await self._settle([verb])
            return
        for verb in batch:
            verb.fail(StoreUnavailableError(str(error)) if isinstance(error, asyncpg.PostgresError) else error)

    async def _judge(self, connection: Connection, batch: Sequence[_Verb], *, idle_only: bool) -> _Judged:
        """Judge and write, without what nobody waits for any more: its asker may be repeating it elsewhere.

        `idle_only`: leave out also the verbs of owners that other transactions hold.
        """
        live = [verb for verb in batch if not verb.future.done()]
        if not live:
            raise NobodyWaitsError
        for verb in live:
            verb.is_undecided = self._writer.is_undecided
        facts = await self._locking.lock(connection, [verb.needs for verb in live], idle_only=idle_only)
        if idle_only:
            self._locking.note_held(facts)
        held = [verb for verb in live if self._locking.is_left_out(verb.needs, facts)]
        results = [(verb, _judge(verb, facts)) for verb in live if verb not in held]
        await write(connection, facts)
        self._has_news = bool(facts.changed)
        await self._news.say(connection, facts.changed)
        return results, held


def _judge(verb: _Verb, facts: Facts) -> Any:
    """Return what came of the verb, or the error that says which reply is kept for it."""
    keep = verb.needs.keep
    if keep is None:
        return verb.judge(facts)
    kept = facts.replies.find(keep)
    if kept is not None:
        return AlreadyKeptError(kept)
    outcome = verb.judge(facts)
    facts.replies.add(keep, outcome)
    return outcome
