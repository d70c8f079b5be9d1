"""A PostgreSQL store as a whole, to be moved: one transaction, during which no server can become live on it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.moving import TABLES, Row
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.primary import Primary
from reflecto.store.postgres.processes import LEASE_SECONDS
from reflecto.store.postgres.schema import migrate

_READ_ROWS: Final = 50  # at a time

_PATIENTLY: Final = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET enable_seqscan = on"
_STOP_STARTS: Final = "LOCK TABLE processes IN SHARE ROW EXCLUSIVE MODE"
_LIVE: Final = "SELECT address FROM processes WHERE live_until > clock_timestamp() ORDER BY address"
_COLUMNS: Final = (
    "SELECT column_name, data_type FROM information_schema.columns "
    "WHERE table_schema = current_schema() AND table_name = $1"
)
_CLAIMS: Final = {"push_subscriptions": {"process_id", "claimed_until", "upto_seq"}}  # by table; of processes that run
_EPOCH: Final = "SELECT number FROM epoch"
_BEGIN_EPOCH: Final = (
    "INSERT INTO epoch (number) VALUES ($1) ON CONFLICT (only_row) DO UPDATE SET number = $1, cluster = NULL"
)


class MovingPostgres:
    """A store in a database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def columns(self, table: str) -> set[str]:
        """Return the names of the table's columns; without what its processes claim, for in a move none runs."""
        return {name for name, _ in await self._connection.fetch(_COLUMNS, table)} - _CLAIMS.get(table, set())

    async def rows(self, table: str, columns: Sequence[str]) -> AsyncIterator[Row]:
        """Yield every row."""
        sql = f"SELECT {', '.join(columns)} FROM {table}"
        async for row in self._connection.cursor(sql, prefetch=_READ_ROWS):
            yield tuple(row)

    async def write(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows."""
        kinds = dict(await self._connection.fetch(_COLUMNS, table))
        flags = [place for place, name in enumerate(columns) if kinds[name] == "boolean"]
        records = []
        for row in rows:
            values = list(row)
            for place in flags:
                values[place] = None if values[place] is None else bool(values[place])
            records.append(tuple(values))
        await self._connection.copy_records_to_table(table, columns=list(columns), records=records)

    async def epoch(self) -> int:
        """Return the epoch."""
        return await self._connection.fetchval(_EPOCH) or 0

    async def begin_epoch(self, epoch: int) -> None:
        """Set the epoch; the first process that starts takes it over."""
        await self._connection.execute(_BEGIN_EPOCH, epoch)

    async def is_empty(self) -> bool:
        """Tell whether no server has run on it."""
        return not any([await self._connection.fetch(f"SELECT 1 FROM {table} LIMIT 1") for table in TABLES])


@asynccontextmanager
async def moving_postgres(address: str) -> AsyncIterator[MovingPostgres]:
    """Open the store at `address` in one transaction, committed at the end; its schema is brought up to date before.

    Raises: StoreUnavailableError, also where a server is live; DatabaseAddressError.
    """
    primary = Primary(address)
    connection = await primary.connect_first()
    try:
        await migrate(connection)
        await connection.execute(_PATIENTLY)
        async with connection.transaction(isolation="repeatable_read"):
            await connection.execute(_STOP_STARTS)
            live = sorted({row["address"] or "a command" for row in await connection.fetch(_LIVE)})
            if live:
                raise StoreUnavailableError(
                    f"a server is running on {primary.shown} ({', '.join(live)}), stop it first; "
                    f"one that was killed counts as running for {LEASE_SECONDS} seconds"
                )
            yield MovingPostgres(connection)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError) as error:
        raise StoreUnavailableError(f"{primary.shown}: {error}") from None
    finally:
        connection.terminate()
