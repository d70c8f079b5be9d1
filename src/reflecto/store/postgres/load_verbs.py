"""What waits in the store, and what this process has done in it: for whoever watches the server."""

from typing import Final

from reflecto.core.model import StoreLoad
from reflecto.core.ports.metrics import StoreWork
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.transactions import Transaction

_COLUMNS: Final = "queue_entries, queue_bytes, longest_queue, largest_queue_bytes, pending_questions"
_KNOWN: Final = f"SELECT {_COLUMNS} FROM load WHERE measured_at > $1::float8 - $2::float8 AND measured_at <= $1::float8"
_MEASURE: Final = """
SELECT coalesce(sum(queue_entries), 0)::bigint, coalesce(sum(queue_bytes), 0)::bigint, coalesce(max(queue_entries), 0),
       coalesce(max(queue_bytes), 0),
       (SELECT count(*) FROM interactions WHERE status = 'pending' AND NOT test AND expires_at > $1::float8)
FROM devices
"""
_KEEP: Final = f"""
INSERT INTO load (measured_at, {_COLUMNS}) VALUES ($1::float8, $2, $3, $4, $5, $6)
ON CONFLICT (one) DO UPDATE SET
    measured_at = excluded.measured_at, queue_entries = excluded.queue_entries, queue_bytes = excluded.queue_bytes,
    longest_queue = excluded.longest_queue, largest_queue_bytes = excluded.largest_queue_bytes,
    pending_questions = excluded.pending_questions
"""


class LoadVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def measure_load(self, now: float, max_age_seconds: float = 0) -> StoreLoad:
        async def measure(transaction: Transaction) -> StoreLoad:
            connection = transaction.connection
            if max_age_seconds and (known := await connection.fetchrow(_KNOWN, now, max_age_seconds)):
                return StoreLoad(*known)
            (row,) = await connection.fetch(_MEASURE, now)
            await connection.execute(_KEEP, now, *row)
            return StoreLoad(*row)

        # Not among the reads, of which each request makes some: a million devices take a while.
        return await self._database.transactions.run(measure)

    @property
    def work(self) -> StoreWork:
        return self._database.work
