"""Replies kept for repeats, as functions of an open transaction."""

import sqlite3
from collections.abc import Callable
from typing import Final, TypeVar

from reflecto.core.ports.store import AlreadyKeptError, Keep

T = TypeVar("T")

FIND: Final = "SELECT sealed FROM kept_replies WHERE mark = ? AND expires_at > ?"
# One that has expired may still be there. Of an owner who is gone nothing is kept.
_KEEP: Final = (
    "INSERT OR REPLACE INTO kept_replies (mark, owner_id, sealed, expires_at) "
    "SELECT ?, id, ?, ? FROM owners WHERE id = ?"
)


def kept_once(operation: Callable[[sqlite3.Connection], T], keep: Keep[T]) -> Callable[[sqlite3.Connection], T]:
    """Return the operation with its reply kept beside it. It raises AlreadyKeptError where one is kept already."""

    def run(connection: sqlite3.Connection) -> T:
        row = connection.execute(FIND, (keep.mark, keep.now)).fetchone()
        if row is not None:
            raise AlreadyKeptError(row[0])
        outcome = operation(connection)
        sealed = keep.seal(outcome)
        if sealed is not None:
            connection.execute(_KEEP, (keep.mark, sealed, keep.expires_at, keep.owner_id))
        return outcome

    return run
