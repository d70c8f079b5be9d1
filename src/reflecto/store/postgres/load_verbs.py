"""What waits in the store, and what this process has done in it: for whoever watches the server."""

from typing import Final

from reflecto.core.model import StoreLoad
from reflecto.core.ports.metrics import StoreWork
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.transactions import Transaction

_LOAD: Final = """
SELECT coalesce(sum(queue_entries), 0)::bigint, coalesce(sum(queue_bytes), 0)::bigint, coalesce(max(queue_entries), 0),
       coalesce(max(queue_bytes), 0),
       (SELECT count(*) FROM interactions WHERE status = 'pending' AND NOT test AND expires_at > $1::float8)
FROM devices
"""


class LoadVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def measure_load(self, now: float) -> StoreLoad:
        async def measure(transaction: Transaction) -> StoreLoad:
            (row,) = await transaction.connection.fetch(_LOAD, now)
            return StoreLoad(*row)

        # Not among the reads, of which each request makes some: a million devices take a while.
        return await self._database.transactions.run(measure)

    @property
    def work(self) -> StoreWork:
        return self._database.work
