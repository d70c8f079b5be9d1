"""Replies that verbs keep for repeats, in the transaction of what they are about."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from reflecto.core.ports.store import Keep
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.reads import Gathered

T = TypeVar("T")

FIND: Final = Gathered(
    "SELECT wanted.place, kept_replies.sealed FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY "
    "AS wanted (mark, now, place) JOIN kept_replies ON kept_replies.mark = wanted.mark "
    "AND kept_replies.expires_at > wanted.now"
)
_LOAD: Final = "SELECT mark, sealed, expires_at FROM kept_replies WHERE mark = ANY($1::bytea[])"
# One that has expired may still be there. Of an owner who is gone nothing is kept.
_WRITE: Final = (
    "INSERT INTO kept_replies (mark, owner_id, sealed, expires_at) "
    "SELECT given.mark, owners.id, given.sealed, given.until "
    "FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::bigint[]) AS given (mark, owner_id, sealed, until) "
    "JOIN owners ON owners.id = given.owner_id ON CONFLICT (mark) DO UPDATE "
    "SET owner_id = excluded.owner_id, sealed = excluded.sealed, expires_at = excluded.expires_at"
)

# Whoever sends much is among the newest: with many senders somebody may be looked at later, and has a few more by then.
_OLDEST: Final = (
    "SELECT senders.owner_id, oldest.expires_at FROM (SELECT DISTINCT owner_id FROM (SELECT owner_id "
    "FROM kept_replies WHERE expires_at > $1::bigint ORDER BY expires_at DESC LIMIT 100) AS newest) AS senders "
    "CROSS JOIN LATERAL (SELECT expires_at FROM kept_replies AS own WHERE own.owner_id = senders.owner_id "
    "ORDER BY own.expires_at DESC OFFSET $2::bigint - 1 LIMIT 1) AS oldest"
)
_DELETE: Final = (
    "DELETE FROM kept_replies WHERE mark = ANY(ARRAY(SELECT older.mark "
    "FROM unnest($1::text[], $2::bigint[]) AS oldest (owner_id, expires_at) "
    "CROSS JOIN LATERAL (SELECT mark FROM kept_replies AS own WHERE own.owner_id = oldest.owner_id "
    "AND own.expires_at < oldest.expires_at ORDER BY own.expires_at LIMIT $3::bigint FOR UPDATE SKIP LOCKED) AS older "
    "LIMIT $3::bigint)) RETURNING 1"
)


async def oldest_to_stay(connection: Connection, now: int, replies_per_owner: int) -> list[tuple[str, int]]:
    """Return owners who have as many replies as may stay, or more, and when the oldest of those that stay expires."""
    return [(row[0], row[1]) for row in await connection.fetch(_OLDEST, now, replies_per_owner)]


async def delete_older(connection: Connection, oldest: Sequence[tuple[str, int]], limit: int) -> int:
    """Delete up to `limit` replies that expire before their owner's `oldest`, and return how many."""
    return len(await connection.fetch(_DELETE, *map(list, zip(*oldest, strict=True)), limit))


class KeptReplies:
    """The replies under the marks that verbs of a transaction have named, and those that they keep."""

    def __init__(self) -> None:
        self._found: dict[bytes, tuple[bytes | None, int]] = {}
        self._new: dict[bytes, tuple[bytes, str, bytes, int]] = {}

    def find(self, keep: Keep[Any]) -> bytes | None:
        """Return the reply that is kept under the mark."""
        sealed, expires_at = self._found.get(keep.mark, (None, 0))
        return sealed if keep.now < expires_at else None

    def add(self, keep: Keep[T], outcome: T) -> None:
        """Keep the reply to what came of a verb, if that is to be kept."""
        sealed = keep.seal(outcome)
        if sealed is not None:
            self._found[keep.mark] = (sealed, keep.expires_at)
            self._new[keep.mark] = (keep.mark, keep.owner_id, sealed, keep.expires_at)

    async def load(self, connection: Connection, keeps: Sequence[Keep[Any]]) -> None:
        """Read what is kept; the owners are locked."""
        if keeps:
            for mark, sealed, expires_at in await connection.fetch(_LOAD, [each.mark for each in keeps]):
                self._found[mark] = (sealed, expires_at)

    async def write(self, connection: Connection) -> None:
        """Write what is new."""
        if self._new:
            await connection.execute(_WRITE, *map(list, zip(*self._new.values(), strict=True)))
