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
HELD_SECONDS: Final = 0.02  # before what waits for a held owner is tried again, where nothing else is to be done

# NO KEY UPDATE: a foreign key's check of the owner, by another transaction, need not wait for it.
_LOCK: Final = "SELECT id FROM owners WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE"
_LOCK_IDLE: Final = f"{_LOCK} SKIP LOCKED"
_THERE: Final = "SELECT id FROM owners WHERE id = ANY($1::text[])"
_OWNERS_OF: Final = (
    "SELECT id, owner_id FROM devices WHERE id = ANY($1::text[]) "
    "UNION ALL SELECT id, owner_id FROM interactions WHERE id = ANY($1::text[])"
)


class OwnerHeldError(Exception):
    """Another transaction holds an owner for long: this one is to be tried again later, and others go first."""


class Locking:
    """Opens transactions on owners. `numbers` say above which number queues go on.

    Where another transaction holds an owner for long (a process that hangs, an administrator), only that owner waits:
    once a wait was in vain the owner is known as held, and is left out without a wait until it is free again.
    """

    def __init__(self, bounds: QueueLimits, numbers: Numbers) -> None:
        self._bounds = bounds
        self._numbers = numbers
        # Whose a device or question is never changes, so it is looked up once a process.
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._held: set[str] = set()

    async def lock(self, connection: Connection, needs: Sequence[Needs], *, idle_only: bool = False) -> Facts:
        """Lock the owners that `needs` are about and load what they name, inside the open transaction.

        `idle_only`: leave out those that another transaction holds, and what is theirs; else only those known as held.
        """
        await self._find_owners(connection, needs)
        owner_ids = sorted({each for need in needs for each in self._owners_of(need)})
        awaited = [] if idle_only else [each for each in owner_ids if each not in self._held]
        others = [each for each in owner_ids if idle_only or each in self._held]
        locked = [row[0] for row in await connection.fetch(_LOCK, awaited)] if awaited else []
        if others:  # never waited for, so their order does not matter
            locked += [row[0] for row in await connection.fetch(_LOCK_IDLE, others)]
        facts = Facts(self._bounds, self._numbers.floor, locked)
        if missing := [each for each in others if each not in facts.owners]:
            facts.left_out = frozenset(row[0] for row in await connection.fetch(_THERE, missing))
        self._held.difference_update(each for each in others if each not in facts.left_out)
        await load(connection, facts, needs)
        return facts

    def note_held(self, facts: Facts) -> None:
        """Wait no more for the owners that were left out, after a wait for one of them was in vain."""
        self._held |= facts.left_out

    def is_left_out(self, needs: Needs, facts: Facts) -> bool:
        """Tell whether another transaction holds what the verb is about."""
        return bool(facts.left_out) and not facts.left_out.isdisjoint(self._owners_of(needs))

    def _owners_of(self, needs: Needs) -> set[str]:
        return {*needs.owner_ids(), *(self._owners[each] for each in needs.owned_ids() if each in self._owners)}

    async def _find_owners(self, connection: Connection, needs: Sequence[Needs]) -> None:
        while len(self._owners) > KNOWN_OWNERS_MAX:
            self._owners.popitem(last=False)
        unknown = [each for need in needs for each in need.owned_ids() if each not in self._owners]
        if unknown:
            for found, owner_id in await connection.fetch(_OWNERS_OF, unknown):
                self._owners[found] = owner_id
