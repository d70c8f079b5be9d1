"""Verbs in batches: what waits while a batch is under way is the next one, in one transaction.

Each batch locks its owners, loads what its verbs need, lets each verb judge in the order of arrival, and writes.
"""

import logging
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final, TypeVar, cast

import asyncpg

from reflecto.core.ports.store import AlreadyKeptError, StoreUnavailableError
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.line import Line
from reflecto.store.postgres.locking import Locking
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.news import NewsFeed
from reflecto.store.postgres.waiting import NobodyWaitsError, Waiting
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


class Batches(Line[_Verb]):
    """Runs verbs on `writer`'s connection, and tells the other processes with `news`."""

    def __init__(self, writer: Writer, locking: Locking, news: NewsFeed) -> None:
        super().__init__(writer)
        self._locking = locking
        self._news = news
        self._has_news = False  # what the transaction under way has changed is news

    async def run(self, needs: Needs, judge: Judge[T]) -> T:
        """Return what `judge` returned, once it is durable.

        Raises: StoreUnavailableError, nothing happened; OutcomeUnknownError, it may have; AlreadyKeptError.
        """
        return cast("T", await self._wait_for(_Verb(needs, judge)))

    async def _serve_next(self) -> None:
        if batch := self._next():
            await self._settle(batch)

    def _next(self) -> list[_Verb]:
        """Return the next batch: verbs that still have somebody waiting, as many as one transaction should have."""
        batch: list[_Verb] = []
        size = 0
        while self._waiting and len(batch) < BATCH_VERBS and size < BATCH_BYTES:
            verb = self._waiting.popleft()
            if not verb.future.done():
                batch.append(verb)
                size += verb.size
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
