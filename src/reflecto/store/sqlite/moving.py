"""A SQLite store as a whole, to be moved: read while nobody else can open it, or filled as a file of its own."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.moving import EPOCH_FACT, Row
from reflecto.store.sqlite.connection import migrate, open_connection

_READ_ROWS: Final = 50  # at a time


class MovingSqlite:
    """A store in one file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def lock(cls, path: Path) -> Self:
        """Open an existing store, so that no server can. Raises: StoreUnavailableError where one has it open."""
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()  # only whoever is alone may
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchone()
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            connection.close()
            raise StoreUnavailableError(f"a server is running in {path.parent}, stop it first ({error})") from None
        return cls(connection)

    @classmethod
    def make(cls, path: Path) -> Self:
        """Make a new store in a file that nobody else knows yet."""
        connection = open_connection(path)
        migrate(connection)
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, without a log beside it
        connection.execute("BEGIN EXCLUSIVE")
        return cls(connection)

    async def columns(self, table: str) -> set[str]:
        """Return the names of the table's columns."""
        return {name for (name,) in self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}

    async def rows(self, table: str, columns: Sequence[str]) -> AsyncIterator[Row]:
        """Yield every row."""
        cursor = self._connection.execute(f"SELECT {', '.join(columns)} FROM {table}")
        while rows := cursor.fetchmany(_READ_ROWS):
            for row in rows:
                yield row

    async def write(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows."""
        places = ", ".join("?" for _ in columns)
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)

    async def epoch(self) -> int:
        """Return the epoch that a move has noted."""
        row = self._connection.execute("SELECT value FROM installation WHERE name = ?", (EPOCH_FACT,)).fetchone()
        return int(row[0]) if row else 0

    async def begin_epoch(self, epoch: int) -> None:
        """Note the epoch, for the server that starts."""
        self._connection.execute("INSERT INTO installation (name, value) VALUES (?, ?)", (EPOCH_FACT, str(epoch)))

    def commit(self) -> None:
        """Keep what was written."""
        self._connection.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._connection.close()
