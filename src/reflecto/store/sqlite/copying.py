"""A store as one file for a backup: copied while a server writes to it, and looked at before anybody trusts it."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflecto.core.ports.store import StoreUnavailableError

_BUSY_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store says of itself: its schema's version, the server's public key in hex, and how many there are."""

    schema: int
    server_key: str
    owners: int
    devices: int


def copy_store(source: Path, target: Path) -> None:
    """Copy the last commit of `source` into the new file `target`, of mode 0600; writers do not wait.

    Raises: StoreUnavailableError; FileExistsError.
    """
    target.touch(mode=0o600, exist_ok=False)
    try:
        uri = f"{source.absolute().as_uri()}?mode=rw"  # never makes one; a reader of the log writes beside it
        with (
            closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as store,
            closing(sqlite3.connect(target, isolation_level=None)) as copy,
        ):
            store.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, without a log beside it
    except sqlite3.Error as error:
        raise StoreUnavailableError(f"cannot copy {source}: {error}") from None


def examine_store(path: Path) -> StoreFacts:
    """Check every page and reference of a copy. Raises: StoreUnavailableError if it is damaged or no store."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as store:
            found = [str(row[0]) for row in store.execute("PRAGMA integrity_check(1)")]
            if found != ["ok"] or store.execute("PRAGMA foreign_key_check").fetchone() is not None:
                raise StoreUnavailableError(f"{path.name} is damaged: {found[0]}")
            key = store.execute("SELECT value FROM installation WHERE name = 'server_public_key'").fetchone()
            (schema,), (owners,), (devices,) = (
                store.execute(sql).fetchone()
                for sql in ("PRAGMA user_version", "SELECT count(*) FROM owners", "SELECT count(*) FROM devices")
            )
    except sqlite3.Error as error:
        raise StoreUnavailableError(f"{path.name} is no store: {error}") from None
    return StoreFacts(schema, key[0] if key else "", owners, devices)


def is_in_use(path: Path) -> bool:
    """Tell whether a server or a command has this store open. A log that a crash left is put away by that."""
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as store:
            store.execute("PRAGMA journal_mode = DELETE").fetchone()  # only whoever is alone may
    except sqlite3.Error as error:
        return (getattr(error, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_BUSY
    return False
