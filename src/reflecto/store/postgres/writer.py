"""A connection that writes: transactions one after another, each of which happens exactly once.

A reply to COMMIT can be lost, with the connection or with the database's machine. So each transaction raises the row of
its connection in `writers`; after a loss the next connection locks that row, which waits for the undecided transaction,
and knows. A COMMIT that waits for a standby is never cancelled: the server would commit it without the standby, and
show it to all. A connection that is stuck is terminated, which sends no cancel.
"""

import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

import asyncpg

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import OutcomeUnknownError, StoreUnavailableError
from reflecto.store.postgres.connection import STUCK_SECONDS, Connection, is_lost, terminated_after
from reflecto.store.postgres.primary import Primary, Proven

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

RETRIES_MAX: Final = 3
RETRY_SECONDS: Final = 0.02  # doubled each time, and spread by chance

# Another transaction was in the way, or a plan is stale: the same again may well succeed.
_RETRIED: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)
# One round trip for both. The name is this process's own: hexadecimal digits, a dot and letters.
_BEGIN: Final = "BEGIN; UPDATE writers SET batch = {number}, seen_at = clock_timestamp() WHERE id = '{name}'"


class Writer:
    """Commits what it is given; `name` is the row in `writers`, one for each connection of each process."""

    def __init__(self, primary: Primary, name: str, done: StoreWork) -> None:
        self._primary = primary
        self._done = done
        self._name = name
        self._proven: Proven | None = None
        self._number = 0  # of the last transaction that is known to have happened
        self._doubtful: tuple[int, Any] | None = None  # number and result of a COMMIT that no reply has come to
        self._is_running = False

    def is_undecided(self) -> bool:
        """Tell whether a transaction is under way of which nobody can say yet whether it happens."""
        return self._is_running or self._doubtful is not None

    async def commit(self, work: Work[T], verbs: int = 1) -> T:
        """Run `work`, which is so many verbs, inside a transaction and return its result once that is durable.

        One call at a time.

        It may run several times, but only one run counts. It goes on until the outcome is known, however long the
        database is away. Not to be cancelled: `close` ends it. Raises: StoreUnavailableError once closed,
        or after conflicts again and again: nothing happened; OutcomeUnknownError once closed: it may have;
        asyncpg.PostgresError of its statements, and whatever else `work` raises: nothing happened.
        """
        conflicts, began = 0, time.perf_counter()
        while True:
            try:
                result = await self._try(work)
            except Exception as error:
                conflicts += isinstance(error, _RETRIED)
                if not self._recovers(error, conflicts):
                    if isinstance(error, _RETRIED):
                        raise StoreUnavailableError(f"the transaction met others {conflicts} times: {error}") from None
                    if self._doubtful is not None:
                        raise OutcomeUnknownError(str(error)) from None
                    raise
            else:
                self._done.add_commit(verbs, time.perf_counter() - began)
                return result
            await self._primary.pause(RETRY_SECONDS * 2**conflicts * random.random())  # noqa: S311  no secret

    def _recovers(self, error: Exception, conflicts: int) -> bool:
        """Tell whether to try again, on another connection where this one is lost or a COMMIT is to be decided."""
        is_doubtful = self._doubtful is not None
        if isinstance(error, StoreUnavailableError):
            return False
        if isinstance(error, _RETRIED):
            self._done.errors.add("conflict")
        elif is_doubtful or is_lost(error, self._connection()):
            self._done.errors.add("connection_lost")
            self.drop()
        else:
            if isinstance(error, asyncpg.PostgresError):
                self._done.errors.add("failed")
            return False
        if is_doubtful:
            self.drop()
        return is_doubtful or conflicts <= RETRIES_MAX

    async def open(self) -> Connection:
        """Return a new connection whose first commit has come back, from a standby too where there is one.

        Raises: StoreUnavailableError once closed.
        """
        return (await self._primary.connect(self._name)).connection

    def close(self) -> None:
        """Give up what is tried, for the whole process: nothing connects any more."""
        self._primary.close()
        self.drop()

    def drop(self) -> None:
        """Give the connection up without a word to the server."""
        if self._proven is not None:
            self._proven.connection.terminate()
            self._proven = None

    async def _try(self, work: Work[T]) -> T:
        if self._proven is None or self._proven.connection.is_closed():
            self._proven = None
            self._proven = await self._primary.connect(self._name)
            self._number = self._proven.batch
        if self._doubtful is not None:
            (number, result), self._doubtful = self._doubtful, None
            if self._number >= number:
                return cast("T", result)  # of this same work, in its last run
        return await self._run(self._proven, work)

    def _connection(self) -> Connection | None:
        return None if self._proven is None else self._proven.connection

    async def _run(self, proven: Proven, work: Work[T]) -> T:
        """Run `work` and commit. Once COMMIT is sent, an error of any kind leaves `_doubtful` to be decided."""
        connection, number = proven.connection, self._number + 1
        self._is_running = True
        try:
            with terminated_after(connection, STUCK_SECONDS):
                began = await connection.execute(_BEGIN.format(number=number, name=self._name))
                try:
                    if began != "UPDATE 1":
                        raise ConnectionResetError("the row of this connection in `writers` is gone")
                    result = await work(connection)
                except BaseException:
                    if not connection.is_closed():
                        await connection.execute("ROLLBACK")
                    raise
                self._doubtful = number, result
                await proven.commits.commit()
                self._doubtful = None
                self._number = number
                return result
        finally:
            self._is_running = False
