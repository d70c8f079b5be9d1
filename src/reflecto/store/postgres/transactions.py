"""Seldom verbs: one transaction each, statement by statement, under the same locks as the batches."""

import logging
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Final, TypeVar, cast

import asyncpg

from reflecto.core.model import Device
from reflecto.core.ports.store import AlreadyKeptError, Keep, StoreUnavailableError
from reflecto.store.postgres.changed import Changed
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.line import Line
from reflecto.store.postgres.locking import Locking, OwnerHeldError
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.news import NewsFeed
from reflecto.store.postgres.waiting import NobodyWaitsError, Waiting
from reflecto.store.postgres.writer import Writer
from reflecto.store.postgres.writing import write
from reflecto.store.tables import DEVICES

T = TypeVar("T")
Body = Callable[["Transaction"], Awaitable[T]]

# What touches two owners' rows, or founds one, comes before the locks of owners: the order is the same everywhere.
_LOCK_INSTALLATION: Final = "SELECT pg_advisory_xact_lock(hashtext('reflecto installation'))"

logger = logging.getLogger(__name__)


class Transaction:
    """An open transaction. Lock before anything is read that decides.

    `has_waited`: an earlier run of it has waited for an owner in vain.
    """

    def __init__(self, connection: Connection, locking: Locking, *, has_waited: bool) -> None:
        self.connection = connection
        self._locking = locking
        self._has_waited = has_waited
        self.facts: list[Facts] = []
        self.changed = Changed()
        self._keep: Keep[Any] | None = None

    async def lock_installation(self) -> None:
        """Be the only one that founds an owner, or changes rows of two. Call it before `lock`."""
        await self.connection.execute(_LOCK_INSTALLATION)

    async def lock(self, needs: Needs, *, idle_only: bool = False) -> Facts:
        """Lock the owners that `needs` are about and load what they name; changes of it are written at the end.

        `idle_only`: leave out those that another transaction holds.
        Raises, for `run`: AlreadyKeptError, OwnerHeldError.
        """
        facts = await self._locking.lock(self.connection, [needs], idle_only=idle_only or self._has_waited)
        if not idle_only and facts.left_out:
            self._locking.note_held(facts)
            raise OwnerHeldError
        self.facts.append(facts)
        if needs.keep is not None:
            self._keep = needs.keep
            kept = facts.replies.find(needs.keep)
            if kept is not None:
                raise AlreadyKeptError(kept)
        return facts

    async def write(self, outcome: object) -> None:
        """Write what the facts have changed, and the reply to what came of it where one is kept."""
        if self._keep is not None:
            self.facts[-1].replies.add(self._keep, outcome)
        for facts in self.facts:
            await write(self.connection, facts)
            self.changed.add(facts.changed)

    async def add_device(self, device: Device) -> None:
        """Insert a device of an owner that is locked, or has just been made; queue for it from now on."""
        await self.connection.execute(DEVICES.numbered_insert, *DEVICES.row(device))
        self.facts[-1].add_device(device)

    def forget_device(self, device_id: str) -> None:
        """Say that the device was deleted: its streams end in every process."""
        self.facts[-1].forget_device(device_id)
        self.changed.ended_ids.add(device_id)


class _Job(Waiting):
    __slots__ = ("body",)

    def __init__(self, body: Body[Any]) -> None:
        super().__init__()
        self.body = body


class Transactions(Line[_Job]):
    """Runs transactions on `writer`'s connection, one after another, and tells the other processes with `news`."""

    def __init__(self, writer: Writer, locking: Locking, news: NewsFeed) -> None:
        super().__init__(writer)
        self._locking = locking
        self._news = news

    async def run(self, body: Body[T]) -> T:
        """Return what `body` returned, once it is durable. It may run more than once; one run counts.

        Raises: StoreUnavailableError, nothing happened; OutcomeUnknownError, it may have; AlreadyKeptError.
        """
        return cast("T", await self._wait_for(_Job(body)))

    async def _serve_next(self) -> None:
        job = self._waiting.popleft()
        if job.future.done():
            return
        runs = count()
        try:
            result, has_news = await self._writer.commit(
                lambda connection: self._carry_out(job, connection, has_waited=next(runs) > 0)
            )
        except NobodyWaitsError:
            return
        except OwnerHeldError:
            await self._put_off([job])
        except StoreUnavailableError as error:
            job.fail(error)
        except asyncpg.PostgresError as error:
            job.fail(StoreUnavailableError(str(error)))
        except Exception as error:
            logger.exception("a verb failed")
            job.fail(error)
        else:
            if has_news:
                self._news.hint()
            if isinstance(result, AlreadyKeptError):
                job.fail(result)
            else:
                job.succeed(result)

    async def _carry_out(self, job: _Job, connection: Connection, *, has_waited: bool) -> tuple[Any, bool]:
        """Return what the body returned, and whether there is news; unless nobody waits for it any more."""
        if job.future.done():
            raise NobodyWaitsError
        job.is_undecided = self._writer.is_undecided
        transaction = Transaction(connection, self._locking, has_waited=has_waited)
        try:
            result = await job.body(transaction)
        except AlreadyKeptError as error:  # which is as good as that reply only once this has committed
            return error, False
        await transaction.write(result)
        await self._news.say(connection, transaction.changed)
        return result, bool(transaction.changed)
