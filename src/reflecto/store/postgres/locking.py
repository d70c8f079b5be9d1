"""Locks the owners that a transaction is about, and loads the facts that its verbs judge."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.loading import load
from reflecto.store.postgres.needs import Needs

KNOWN_OWNERS_MAX: Final = 100_000

# NO KEY UPDATE: a foreign key's check of the owner, by another transaction, need not wait for it.
_LOCK: Final = "SELECT id FROM owners WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE"
_LOCK_IDLE: Final = f"{_LOCK} SKIP LOCKED"
_OWNERS_OF: Final = (
    "SELECT id, owner_id FROM devices WHERE id = ANY($1::text[]) "
    "UNION ALL SELECT id, owner_id FROM interactions WHERE id = ANY($1::text[])"
)


class Locking:
    """Opens transactions on owners. `floor`: what is numbered gets a number above it."""

    def __init__(self, bounds: QueueLimits) -> None:
        self._bounds = bounds
        # Whose a device or question is never changes, so it is looked up once a process.
        self._owners: OrderedDict[str, str] = OrderedDict()
        self.floor = 0

    async def lock(self, connection: Connection, needs: Sequence[Needs], *, idle_only: bool = False) -> Facts:
        """Lock the owners that `needs` are about and load what they name, inside the open transaction.

        `idle_only`: leave out those that another transaction holds, and what is theirs.
        """
        owner_ids = sorted(await self._owners_of(connection, needs))
        rows = await connection.fetch(_LOCK_IDLE if idle_only else _LOCK, owner_ids) if owner_ids else []
        facts = Facts(self._bounds, self.floor, [row[0] for row in rows])
        await load(connection, facts, needs)
        return facts

    async def _owners_of(self, connection: Connection, needs: Sequence[Needs]) -> set[str]:
        owner_ids = {each for need in needs for each in need.owner_ids()}
        ids = {each for need in needs for each in need.owned_ids()}
        unknown = [each for each in ids if each not in self._owners]
        if unknown:
            for found, owner_id in await connection.fetch(_OWNERS_OF, unknown):
                self._owners[found] = owner_id
        owner_ids |= {self._owners[each] for each in ids if each in self._owners}
        while len(self._owners) > KNOWN_OWNERS_MAX:
            self._owners.popitem(last=False)
        return owner_ids
