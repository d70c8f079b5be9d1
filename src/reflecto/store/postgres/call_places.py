"""`core.ports.call_places.CallPlaces` among several processes: a row for each call, while its process lives."""

from typing import Final

from reflecto.store.postgres.database import Database
from reflecto.store.postgres.transactions import Transaction

_CALL: Final = "token_id = $1 AND call_mark = $2"
_LIVES: Final = (
    "EXISTS (SELECT 1 FROM processes WHERE processes.id = call_places.process_id AND live_until > clock_timestamp())"
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('call ' || $1, hashtext(encode($2, 'hex'))))"
_CLEAR: Final = f"DELETE FROM call_places WHERE {_CALL} AND process_id <> $3 AND NOT {_LIVES}"
_TAKE: Final = (
    "INSERT INTO call_places (token_id, call_mark, number, process_id) SELECT $1, $2, free.number, $3 FROM ("
    f"SELECT min(each) AS number FROM generate_series(0, (SELECT count(*) FROM call_places WHERE {_CALL})::integer) "
    f"AS each WHERE NOT EXISTS (SELECT 1 FROM call_places WHERE {_CALL} AND number = each)) AS free RETURNING number"
)
_PUT: Final = f"UPDATE call_places SET question_id = $4 WHERE {_CALL} AND number = $3"
_GIVE_BACK: Final = f"DELETE FROM call_places WHERE {_CALL} AND number = $3 AND process_id = $4"
_FIRST: Final = (
    f"SELECT question_id FROM call_places WHERE {_CALL} AND question_id IS NOT NULL ORDER BY taken_at LIMIT 1"
)


class PostgresCallPlaces:
    """The calls that wait in all processes on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, token_id: str, call_mark: bytes) -> int:
        """Return the lowest free number."""

        async def take(transaction: Transaction) -> int:
            connection, process_id = transaction.connection, self._database.process_id
            await connection.execute(_LOCK, token_id, call_mark)
            await connection.execute(_CLEAR, token_id, call_mark, process_id)
            number: int = await connection.fetchval(_TAKE, token_id, call_mark, process_id)
            return number

        return await self._database.transactions.run(take)

    async def put_question(self, token_id: str, call_mark: bytes, number: int, question_id: str) -> None:
        """Note what the call asks now."""

        async def put(transaction: Transaction) -> None:
            await transaction.connection.execute(_PUT, token_id, call_mark, number, question_id)

        await self._database.transactions.run(put)

    async def give_back(self, token_id: str, call_mark: bytes, number: int) -> None:
        """The call waits no longer."""

        async def give_back(transaction: Transaction) -> None:
            process_id = self._database.process_id
            await transaction.connection.execute(_GIVE_BACK, token_id, call_mark, number, process_id)

        await self._database.transactions.run(give_back)

    async def first_question(self, token_id: str, call_mark: bytes) -> str | None:
        """Return what the longest waiting of these calls asks."""
        row = await self._database.reads.row(_FIRST, token_id, call_mark)
        return row[0] if row else None
