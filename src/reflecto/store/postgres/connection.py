"""One connection to one host of the database: its settings, and what it says of itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import asyncpg

if TYPE_CHECKING:
    Connection = asyncpg.Connection[Any]
else:  # at run time it takes no parameter
    Connection = asyncpg.Connection

CONNECT_SECONDS: Final = 2.0  # for one host; a hung one must not keep the process from the next

# A frozen process must not keep owners locked, and no statement may outlive who asked. Statistics of fresh tables lead
# to scans of whole tables, which cost half the speed until the first ANALYZE. `jit` costs more than any statement here.
_SETTINGS: Final = """
SET application_name = 'reflecto';
SET statement_timeout = '5s';
SET lock_timeout = '2s';
SET idle_in_transaction_session_timeout = '5s';
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SET default_transaction_isolation = 'read committed';
SET enable_seqscan = off;
SET jit = off;
"""
_LOOK: Final = """
SELECT pg_is_in_recovery() AS in_recovery,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       CASE WHEN pg_is_in_recovery() THEN 0
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END AS timeline
"""

# What a host says that cannot be written to right now, or a connection that has broken: another one may do better.
LOST: Final = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
)


@dataclass(frozen=True, slots=True)
class Host:
    """What a connection found: which cluster it is, on which timeline, and whether it is a standby."""

    connection: Connection
    system_identifier: int
    timeline: int
    in_recovery: bool


async def open_connection(address: str) -> Host:
    """Connect to one host. Raises: one of LOST; asyncpg.PostgresError (a wrong password, no such database)."""
    connection = await asyncpg.connect(address, timeout=CONNECT_SECONDS)
    try:
        await connection.execute(_SETTINGS)
        found = await connection.fetchrow(_LOOK)
    except BaseException:
        connection.terminate()
        raise
    assert found is not None  # noqa: S101  a SELECT without FROM has one row
    return Host(connection, found["system_identifier"], found["timeline"], found["in_recovery"])
