"""Replies kept for repeats, as functions of an open transaction."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from reflecto.core.ports.store import AlreadyKeptError, Keep

T = TypeVar("T")

FIND: Final = "SELECT sealed FROM kept_replies WHERE mark = ? AND expires_at > ?"
# One that has expired may still be there. Of an owner who is gone nothing is kept.
_KEEP: Final = (
    "INSERT OR REPLACE INTO kept_replies (mark, owner_id, sealed, expires_at) "
    "SELECT ?, id, ?, ? FROM owners WHERE id = ?"
)

# Whoever sends much is among the newest: with many senders somebody may be looked at later, and has a few more by then.
_SENDERS: Final = (
    "SELECT DISTINCT owner_id FROM "
    "(SELECT owner_id FROM kept_replies WHERE expires_at > ? ORDER BY expires_at DESC LIMIT 100)"
)
_OLDEST: Final = (
    "SELECT expires_at FROM kept_replies WHERE owner_id = ? ORDER BY expires_at DESC LIMIT 1 OFFSET ?"  # that may stay
)
_DELETE: Final = (
    "DELETE FROM kept_replies WHERE mark IN "
    "(SELECT mark FROM kept_replies WHERE owner_id = ? AND expires_at < ? ORDER BY expires_at LIMIT ?)"
)


def oldest_to_stay(connection: sqlite3.Connection, now: float, replies_per_owner: int) -> list[tuple[str, int]]:
    """Return owners who have as many replies as may stay, or more, and when the oldest of those that stay expires."""
    found = []
    for (owner_id,) in connection.execute(_SENDERS, (now,)).fetchall():
        row = connection.execute(_OLDEST, (owner_id, replies_per_owner - 1)).fetchone()
        if row is not None:
            found.append((owner_id, row[0]))
    return found


def delete_older(connection: sqlite3.Connection, oldest: Sequence[tuple[str, int]], limit: int) -> int:
    """Delete up to `limit` replies that expire before their owner's `oldest`, and return how many."""
    deleted = 0
    for owner_id, expires_at in oldest:
        deleted += connection.execute(_DELETE, (owner_id, expires_at, limit - deleted)).rowcount
    return deleted


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
