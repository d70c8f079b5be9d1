"""The database of the SQLite store: one writer, one reader."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import Keep, StoreUnavailableError
from reflecto.core.ports.wakeups import News
from reflecto.store.sqlite.connection import migrate, open_connection
from reflecto.store.sqlite.kept_replies import kept_once
from reflecto.store.sqlite.room import Room, is_disk_error
from reflecto.store.sqlite.writer import Writer

T = TypeVar("T")

Parameters = Sequence[Any] | Mapping[str, Any]

DATABASE_NAME: Final = "reflecto.sqlite3"


class Database:
    """Writes go through the one writer; reads run on the event loop, where a point look-up takes microseconds."""

    def __init__(self, path: Path, reader: sqlite3.Connection, writer: Writer) -> None:
        self._path = path
        self._reader = reader
        self._writer = writer

    @classmethod
    def open(cls, folder: Path, *, keeps_reserve: bool = False) -> "Database":
        """Open or create the store in `folder`, which exists. Call it on the event loop.

        `keeps_reserve`: keep a file there for the moment when somebody else has filled the disk.

        Raises: NewerSchemaError; StoreUnavailableError.
        """
        path, room = folder / DATABASE_NAME, Room(folder, keeps_reserve=keeps_reserve)
        try:
            try:
                _prepare(path)
            except sqlite3.Error as error:
                if not is_disk_error(error) or not room.give_up_reserve():
                    raise
                _prepare(path)
            return cls(path, open_connection(path, read_only=True), Writer(path, room))
        except sqlite3.Error as error:
            reason = f"the disk is full ({error})" if is_disk_error(error) and room.is_full() else error
            raise StoreUnavailableError(f"{path}: {reason}") from None
        except OSError as error:
            raise StoreUnavailableError(f"{path}: {error.strerror}") from None

    @property
    def work(self) -> StoreWork:
        """What this process has done in it."""
        return self._writer.work

    async def write(
        self, operation: Callable[[sqlite3.Connection], T], keep: Keep[T] | None = None, *, frees: bool = False
    ) -> T:
        """Return what `operation` returned, once it is durable. One that `frees` is run also on a nearly full disk.

        Raises: StoreUnavailableError; AlreadyKeptError where the reply to `keep` is there already.
        """
        if keep is not None:
            operation = kept_once(operation, keep)
        return await self._writer.run(operation, frees=frees)

    async def write_before_others(self, operation: Callable[[sqlite3.Connection], object]) -> None:
        """Run it now, or if that fails before anything else is committed. Raises: StoreUnavailableError."""
        await self._writer.run_before_others(operation)

    async def write_until_done(self, operation: Callable[[sqlite3.Connection], T | None]) -> T:
        """Repeat `operation`, which frees room, until it returns something other than None: that.

        Each time is durable by itself. Raises: StoreUnavailableError; what was done before stays done.
        """
        while (result := await self._writer.run(operation, frees=True)) is None:
            pass
        return result

    def when_changed_elsewhere(self, callback: Callable[[News], None]) -> None:
        """Call `callback` on the loop after another process has committed, with what that may have changed."""
        self._writer.when_changed_elsewhere(callback)

    def read(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `operation` reads of the last commit. Raises: StoreUnavailableError."""
        try:
            return operation(self._reader)
        except sqlite3.Error as error:
            raise StoreUnavailableError(str(error)) from None

    async def read_apart(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `operation`, which takes long, reads of the last commit: in a thread, on a connection of its own.

        Raises: StoreUnavailableError.
        """

        def read() -> T:
            with closing(open_connection(self._path, read_only=True)) as connection:
                return operation(connection)

        try:
            return await asyncio.to_thread(read)
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailableError(str(error)) from None

    def row(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first row or None. Raises: StoreUnavailableError."""
        return self.read(lambda connection: connection.execute(sql, parameters).fetchone())

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return all rows. Raises: StoreUnavailableError."""
        return self.read(lambda connection: connection.execute(sql, parameters).fetchall())

    async def close(self) -> None:
        """Commit what was accepted, then close the file."""
        await self._writer.close()
        self._reader.close()


def _prepare(path: Path) -> None:
    """Bring the file up to date."""
    connection = open_connection(path)
    try:
        migrate(connection)
    finally:
        connection.close()
