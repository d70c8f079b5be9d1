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
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from reflecto.core.ports import StoreUnavailableError
from reflecto.store.sqlite.connection import open_connection

T = TypeVar("T")
Operation = Callable[[sqlite3.Connection], Any]
_Waiting = tuple[Operation, "asyncio.Future[Any]"]

FOREIGN_CHECK_SECONDS: Final = 0.25
WAITING_MAX: Final = 20_000  # beyond this the disk has stalled: refuse instead of piling up

logger = logging.getLogger(__name__)


class Writer:
    """Runs operations, each atomic, in batches. Every method is called on the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Waiting] = []
        self._in_flight: list[_Waiting] = []
        self._busy = False
        self._failing = False
        self._closed = False
        self._on_foreign_commit: Callable[[], None] = lambda: None
        self._batches: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `operation` returned, once that is committed.

        Raises: StoreUnavailableError when it could not be; then nothing happened. What the operation raises.
        """
        if self._closed or len(self._waiting) >= WAITING_MAX:
            raise StoreUnavailableError("the store is closed" if self._closed else "the disk has stalled")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append((operation, future))
        if not self._busy:
            self._dispatch()
        return await future

    def when_changed_elsewhere(self, callback: Callable[[], None]) -> None:
        """Call `callback` on the loop after another process has committed."""
        self._on_foreign_commit = callback

    async def close(self) -> None:
        """Commit what is waiting and end the thread."""
        self._closed = True
        while self._busy:
            await asyncio.wait([future for _, future in self._in_flight])
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    def _dispatch(self) -> None:
        self._in_flight, self._waiting = self._waiting, []
        self._busy = True
        self._batches.put(self._in_flight)

    def _deliver(self, results: list[Any], error: sqlite3.Error | OSError | None) -> None:
        self._report(error)
        delivered = self._in_flight
        if self._waiting:
            self._dispatch()  # first: the disk works while the loop hands out results
        else:
            self._busy = False
        for (_, future), result in zip(delivered, results, strict=True):
            if future.cancelled():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _report(self, error: sqlite3.Error | OSError | None) -> None:
        """Log when the store starts and stops failing, not each failure between."""
        if error is not None and not self._failing:
            logger.error("store unavailable: %s (%s); requests get 503 until it recovers", error, self._path)
        elif error is None and self._failing:
            logger.warning("store available again (%s)", self._path)
        self._failing = error is not None

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        seen_version: int | None = None
        while True:
            batch = self._next_batch()
            if batch is None:
                break
            error: sqlite3.Error | OSError | None = None
            results: list[Any] = []
            try:
                connection = connection or open_connection(self._path)
                version = connection.execute("PRAGMA data_version").fetchone()[0]  # own commits do not change it
                if seen_version is not None and version != seen_version:
                    self._loop.call_soon_threadsafe(self._on_foreign_commit)
                seen_version = version
                if batch:
                    results = _commit(connection, [operation for operation, _ in batch])
            except (sqlite3.Error, OSError) as caught:
                error = caught
                results = [StoreUnavailableError(str(caught)) for _ in batch]
                if connection is not None:
                    connection.close()  # a failed disk may leave it in any state; a fresh one finds what is committed
                    connection = None
            if batch:
                self._loop.call_soon_threadsafe(self._deliver, results, error)
        if connection is not None:
            connection.close()

    def _next_batch(self) -> list[_Waiting] | None:
        """Return the next batch, an empty one when there was none for a while, or None at the end."""
        try:
            return self._batches.get(timeout=FOREIGN_CHECK_SECONDS)
        except queue.Empty:
            return []


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
