"""Opening the database file: settings of a connection, and migrations from an empty file."""

import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Final

from reflecto.store.sqlite.room import is_disk_error

BUSY_TIMEOUT_MS: Final = 5_000  # `reflecto invite` may hold the write lock for a moment
LOG_BYTES: Final = 4 * 1024 * 1024
WAL_KEPT_BYTES: Final = 64 * 1024 * 1024  # a burst may grow the log beyond; it is cut back to this

LOG_TRIES: Final = 20  # to get a new file its log; each may wait for one other process that is about to

_PRAGMAS: Final = (
    "PRAGMA synchronous = FULL",  # a commit is on the disk before anybody is told
    "PRAGMA foreign_keys = ON",  # deleting an owner or device takes what is theirs
    f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}",
    "PRAGMA secure_delete = ON",  # what was acknowledged is overwritten, not left in free pages
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)


class NewerSchemaError(Exception):
    """The file was written by a newer version of Reflecto."""


def open_connection(path: Path, *, read_only: bool = False, log_bytes: int = LOG_BYTES) -> sqlite3.Connection:
    """Open the file, made with mode 0600 if missing. Transactions are begun and ended explicitly.

    `log_bytes`: the size from which on the log is written into the store, at most LOG_BYTES.

    Raises: sqlite3.Error.
    """
    if not path.exists():
        path.touch(mode=0o600)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _keep_log(connection)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA wal_autocheckpoint = {max(1, min(log_bytes, LOG_BYTES) // page_bytes)}")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _keep_log(connection: sqlite3.Connection) -> None:
    """Write through a log (WAL), so that readers never wait for the writer. Raises: sqlite3.Error.

    Where others open the same new file, SQLite refuses the change at once, whatever the time-out: wait for their locks.
    """
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    for remaining in reversed(range(LOG_TRIES)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not remaining or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        else:
            return
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, all of it or nothing; safe when two processes start at once.

    Raises: NewerSchemaError, sqlite3.Error.
    """
    scripts = sorted(
        (script for script in files(f"{__package__}.migrations").iterdir() if script.name.endswith(".sql")),
        key=lambda script: script.name,
    )
    version = None
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(scripts):
            raise NewerSchemaError(f"the store has schema {version}, this version of Reflecto knows {len(scripts)}")
        for script in scripts[version:]:
            for statement in _statements(script.read_text("utf-8")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(scripts)}")  # also where it is so: it must be writable
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:  # a full disk ends it by itself, and the reason must be heard
            connection.execute("ROLLBACK")
        if is_disk_error(error) and version == len(scripts):
            return  # phones can acknowledge what they have, which makes room
        raise


def _statements(script: str) -> list[str]:
    """Split a script into statements; `executescript` would commit the open transaction."""
    statements, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    return statements
