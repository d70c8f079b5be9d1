"""Locks the owners that a transaction is about, and loads the facts that its verbs judge."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.epoch import Numbers
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
    """Opens transactions on owners. `numbers` say above which number queues go on."""

    def __init__(self, bounds: QueueLimits, numbers: Numbers) -> None:
        self._bounds = bounds
        self._numbers = numbers
        # Whose a device or question is never changes, so it is looked up once a process.
        self._owners: OrderedDict[str, str] = OrderedDict()

    async def lock(self, connection: Connection, needs: Sequence[Needs], *, idle_only: bool = False) -> Facts:
        """Lock the owners that `needs` are about and load what they name, inside the open transaction.

        `idle_only`: leave out those that another transaction holds, and what is theirs.
        """
        await self._find_owners(connection, needs)
        owner_ids = sorted({each for need in needs for each in self._owners_of(need)})
        rows = await connection.fetch(_LOCK_IDLE if idle_only else _LOCK, owner_ids) if owner_ids else []
        facts = Facts(self._bounds, self._numbers.floor, [row[0] for row in rows])
        await load(connection, facts, needs)
        return facts

    def are_locked(self, needs: Needs, facts: Facts) -> bool:
        """Tell whether `facts` are of all that the verb is about. No: an owner is gone, or was left out as not idle."""
        return self._owners_of(needs) <= facts.owners

    def _owners_of(self, needs: Needs) -> set[str]:
        return {*needs.owner_ids(), *(self._owners[each] for each in needs.owned_ids() if each in self._owners)}

    async def _find_owners(self, connection: Connection, needs: Sequence[Needs]) -> None:
        while len(self._owners) > KNOWN_OWNERS_MAX:
            self._owners.popitem(last=False)
        unknown = [each for need in needs for each in need.owned_ids() if each not in self._owners]
        if unknown:
            for found, owner_id in await connection.fetch(_OWNERS_OF, unknown):
                self._owners[found] = owner_id
