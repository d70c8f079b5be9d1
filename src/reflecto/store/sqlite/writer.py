"""The one writer: group commit, so that many requests share one fsync.

Batches are formed on the event loop: at once when the writer is idle, else whatever gathered while the last
commit ran. A batch is one transaction in the writer's thread and one wake-up of the loop.

Between batches the thread asks SQLite whether another process has committed, so that streams and long polls of this
one hear of it.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.ports.wakeups import News
from reflecto.store.sqlite.connection import open_connection
from reflecto.store.sqlite.room import TIGHT, Room, is_disk_error, put_log_away

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], Any]


class _Waiting(msgspec.Struct, frozen=True):
    """Something to write. `frees`: it makes room or is worth the last of it, so a full disk does not keep it out."""

    operation: Operation
    frees: bool
    future: "asyncio.Future[Any]"


FOREIGN_CHECK_SECONDS: Final = 0.25
WAITING_MAX: Final = 20_000  # beyond this the disk has stalled: refuse instead of piling up

logger = logging.getLogger(__name__)


class Writer:
    """Runs operations, each atomic, in batches. Every method is called on the event loop."""

    def __init__(self, path: Path, room: Room) -> None:
        self._path = path
        self._room = room
        self._first: Operation | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Waiting] = []
        self._in_flight: list[_Waiting] = []
        self._busy = False
        self._failing = False
        self._closed = False
        self._on_foreign_commit: Callable[[News], None] = lambda _: None
        self.work = StoreWork()
        self._batches: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[sqlite3.Connection], T], *, frees: bool = False) -> T:
        """Return what `operation` returned, once that is committed.

        On a disk that is nearly full only an operation that `frees` is run. Raises: StoreUnavailableError when it could
        not be committed; then nothing happened. What the operation raises.
        """
        if self._closed or len(self._waiting) >= WAITING_MAX:
            raise StoreUnavailableError("the store is closed" if self._closed else "the disk has stalled")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(_Waiting(operation, frees, future))
        if not self._busy:
            self._dispatch()
        return await future

    async def run_before_others(self, operation: Operation) -> None:
        """Run it now; should that fail, no other operation is committed before it is.

        Raises: StoreUnavailableError; then it is still to come.
        """
        self._first = operation
        await self.run(lambda _connection: None, frees=True)

    def when_changed_elsewhere(self, callback: Callable[[News], None]) -> None:
        """Call `callback` on the loop after another process has committed: of what, SQLite does not tell."""
        self._on_foreign_commit = callback

    async def close(self) -> None:
        """Commit what is waiting and end the thread."""
        self._closed = True
        while self._busy:
            await asyncio.wait([each.future for each in self._in_flight])
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    def _dispatch(self) -> None:
        self._in_flight, self._waiting = self._waiting, []
        self._busy = True
        self._batches.put(self._in_flight)

    def _deliver(self, results: list[Any], trouble: str | None, seconds: float) -> None:
        self._report(trouble)
        if trouble is None:
            self.work.add_commit(len(results), seconds)
        else:
            self.work.errors.add("failed")
        delivered = self._in_flight
        if self._waiting:
            self._dispatch()  # first: the disk works while the loop hands out results
        else:
            self._busy = False
        for each, result in zip(delivered, results, strict=True):
            if each.future.cancelled():
                continue
            if isinstance(result, Exception):
                each.future.set_exception(result)
            else:
                each.future.set_result(result)

    def _report(self, trouble: str | None) -> None:
        """Log when the store starts and stops failing, not each failure between."""
        if trouble is not None and not self._failing:
            logger.error("store unavailable: %s (%s); requests get 503 until it recovers", trouble, self._path)
        elif trouble is None and self._failing:
            logger.warning("store available again (%s)", self._path)
        self._failing = trouble is not None

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        seen_version: int | None = None
        while True:
            batch = self._next_batch()
            if batch is None:
                break
            trouble: str | None = None
            results: list[Any] = []
            began = time.perf_counter()
            try:
                connection = connection or open_connection(self._path, log_bytes=self._room.log_bytes)
                version = connection.execute("PRAGMA data_version").fetchone()[0]  # own commits do not change it
                if seen_version is not None and version != seen_version:
                    self._loop.call_soon_threadsafe(self._on_foreign_commit, News(everything=True))
                seen_version = version
                if not batch:
                    self._room.make_reserve()  # when nobody waits
                elif self._room.is_tight(connection):
                    trouble = TIGHT
                    results = self._free(connection, batch, TIGHT)
                else:
                    results = self._commit(connection, [each.operation for each in batch])
            except (sqlite3.Error, OSError) as caught:
                trouble = str(caught)
                if connection is not None:
                    connection.close()  # a failed disk may leave it in any state; a fresh one finds what is committed
                    connection = None
                connection, results = self._after_failure(batch, caught)
            if batch:
                self._loop.call_soon_threadsafe(self._deliver, results, trouble, time.perf_counter() - began)
        if connection is not None:
            connection.close()

    def _after_failure(self, batch: list[_Waiting], error: Exception) -> tuple[sqlite3.Connection | None, list[Any]]:
        """Return the results of a batch that failed: where the disk takes no more, what frees room is tried alone."""
        if is_disk_error(error) and any(each.frees for each in batch):
            with suppress(sqlite3.Error, OSError):
                connection = open_connection(self._path, log_bytes=self._room.log_bytes)
                put_log_away(connection)
                return connection, self._free(connection, batch, str(error))
        return None, [StoreUnavailableError(str(error)) for _ in batch]

    def _free(self, connection: sqlite3.Connection, batch: list[_Waiting], trouble: str) -> list[Any]:
        """Run what frees room, each by itself and with the log put away behind it; refuse the rest."""
        results: list[Any] = []
        for each in batch:
            if not each.frees:
                results.append(StoreUnavailableError(trouble))
                continue
            try:
                results += self._free_one(connection, each.operation)
            except sqlite3.Error as error:
                _roll_back(connection)
                results.append(StoreUnavailableError(str(error)))
            else:
                put_log_away(connection)
        return results

    def _free_one(self, connection: sqlite3.Connection, operation: Operation) -> list[Any]:
        """Commit it with whatever room is left for that. Raises: sqlite3.Error."""
        try:
            return self._commit(connection, [operation])
        except sqlite3.Error as error:
            _roll_back(connection)
            if not is_disk_error(error):
                raise
        if self._room.give_up_reserve():
            put_log_away(connection)
            try:
                return self._commit(connection, [operation])
            except sqlite3.Error:
                _roll_back(connection)
        # Most of the room is for overwriting what is deleted. At last it stays in free pages until they are used again.
        connection.execute("PRAGMA secure_delete = OFF")
        try:
            return self._commit(connection, [operation])
        finally:
            connection.execute("PRAGMA secure_delete = ON")

    def _commit(self, connection: sqlite3.Connection, operations: list[Operation]) -> list[Any]:
        """Run all in one transaction, behind what has to come first. Raises: sqlite3.Error."""
        first = self._first
        if first is None:
            return _commit(connection, operations)
        results = _commit(connection, [first, *operations])
        self._first = None
        return results[1:]

    def _next_batch(self) -> list[_Waiting] | None:
        """Return the next batch, an empty one when there was none for a while, or None at the end."""
        try:
            return self._batches.get(timeout=FOREIGN_CHECK_SECONDS)
        except queue.Empty:
            return []


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _commit(connection: sqlite3.Connection, operations: list[Operation]) -> list[Any]:
    """Run all in one transaction; one that fails by itself is undone alone and its error is its result.

    Raises: sqlite3.Error when the transaction as a whole failed.
    """
    results: list[Any] = []
    connection.execute("BEGIN IMMEDIATE")
    for operation in operations:
        connection.execute("SAVEPOINT operation")
        try:
            results.append(operation(connection))
        except Exception as error:  # handed to the caller of this operation; the others go on
            if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
                raise
            connection.execute("ROLLBACK TO operation")
            results.append(error)
        connection.execute("RELEASE operation")
    connection.execute("COMMIT")
    return results
