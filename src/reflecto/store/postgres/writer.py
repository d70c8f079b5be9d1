"""A connection that writes: transactions one after another, each of which happens exactly once.

A reply to COMMIT can be lost, with the connection or with the database's machine. So each transaction raises the row of
its connection in `writers`; after a loss the next connection reads that row, waiting for the undecided transaction, and
knows. A COMMIT that waits for a standby is never cancelled: the server would commit it without the standby, and show
it to all. A connection that is stuck is dropped, which sends no cancel.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

import asyncpg

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.connection import LOST, Connection
from reflecto.store.postgres.primary import Primary

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

STUCK_SECONDS: Final = 5.0
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
_FOUND: Final = (
    "INSERT INTO writers (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()"
)
_RAISE: Final = "UPDATE writers SET batch = $2, seen_at = clock_timestamp() WHERE id = $1"
_DECIDE: Final = "SELECT batch FROM writers WHERE id = $1 FOR UPDATE"


class Writer:
    """Commits what it is given; `name` is the row in `writers`, one for each connection of each process."""

    def __init__(self, primary: Primary, name: str, done: StoreWork) -> None:
        self._primary = primary
        self._done = done
        self._name = name
        self._connection: Connection | None = None
        self._number = 0
        self._doubtful: tuple[int, Any] | None = None  # number and result of a COMMIT whose reply never came
        self._warned = False

    async def commit(self, work: Work[T], verbs: int = 1) -> T:
        """Run `work`, which is so many verbs, inside a transaction and return its result once that is durable.

        One call at a time.

        It may run several times, but only one run counts. It goes on until the outcome is known, however long the
        database is away. Raises: StoreUnavailableError once closed, or after conflicts again and again;
        asyncpg.PostgresError of its statements; then nothing happened.
        """
        conflicts, began = 0, time.perf_counter()
        while True:
            try:
                result = await self._try(work)
            except _RETRIED as error:
                self._done.errors.add("conflict")
                conflicts += 1
                if conflicts > RETRIES_MAX and self._doubtful is None:
                    raise StoreUnavailableError(f"the transaction met others {conflicts} times: {error}") from None
                await self._primary.pause(RETRY_SECONDS * 2**conflicts * random.random())  # noqa: S311  no secret
            except LOST:
                self._done.errors.add("connection_lost")
                self.drop()
            except asyncpg.PostgresError:
                self._done.errors.add("failed")
                raise
            else:
                self._done.add_commit(verbs, time.perf_counter() - began)
                return result

    async def open(self) -> Connection:
        """Return a new connection whose first commit has come back, from a standby too where there is one.

        Raises: StoreUnavailableError once closed; one of LOST.
        """
        connection = await self._primary.connect()
        watchdog = asyncio.get_running_loop().call_later(STUCK_SECONDS, connection.terminate)
        try:
            connection.add_log_listener(self._hear)
            await connection.execute(_FOUND, self._name)
        except BaseException:
            connection.terminate()
            raise
        finally:
            watchdog.cancel()
        return connection

    def drop(self) -> None:
        """Give the connection up without a word to the server."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _try(self, work: Work[T]) -> T:
        connection = await self._ready()
        watchdog = asyncio.get_running_loop().call_later(STUCK_SECONDS, connection.terminate)
        try:
            if self._doubtful is not None:
                number, kept = self._doubtful
                has_committed = await self._has_committed(connection, number)
                self._doubtful = None
                if has_committed:
                    self._number = number
                    return cast("T", kept)  # of this same work, in its last run
            result = await self._run(connection, work)
            await self._commit(connection, result)
            return result
        finally:
            watchdog.cancel()

    async def _run(self, connection: Connection, work: Work[T]) -> T:
        await connection.execute("BEGIN")
        try:
            result = await work(connection)
            await connection.execute(_RAISE, self._name, self._number + 1)
        except BaseException:
            if not connection.is_closed():
                await connection.execute("ROLLBACK")
            raise
        return result

    async def _commit(self, connection: Connection, result: object) -> None:
        """COMMIT, again with nothing in it for as long as the server warns that it did not wait for a standby.

        Its text may be translated, so any warning counts. A later commit that waited proves the earlier ones.
        """
        self._doubtful = (self._number + 1, result)
        self._warned = False
        await connection.execute("COMMIT")
        while self._warned:
            self._warned = False
            await connection.execute(_RAISE, self._name, self._number + 1)
        self._doubtful = None
        self._number += 1

    async def _has_committed(self, connection: Connection, number: int) -> bool:
        """Tell whether the doubtful transaction took place; waits for it where it is still under way."""
        await connection.execute("BEGIN")
        batch = await connection.fetchval(_DECIDE, self._name)
        await connection.execute(_RAISE, self._name, batch)  # so that this commit waits for a standby as well
        await connection.execute("COMMIT")
        return bool(batch >= number)

    async def _ready(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self.open()
        return self._connection

    def _hear(self, _connection: object, message: Any) -> None:
        if getattr(message, "severity_en", None) == "WARNING" or getattr(message, "severity", "") == "WARNING":
            self._warned = True
