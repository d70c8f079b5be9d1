"""One connection to one host of the database: its settings, what it says of itself, and how it is given up."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import asyncpg

if TYPE_CHECKING:
    Connection = asyncpg.Connection[Any]
else:  # at run time it takes no parameter
    Connection = asyncpg.Connection

CONNECT_SECONDS: Final = 2.0  # for one host; a hung one must not keep the process from the next
STUCK_SECONDS: Final = 5.0  # a transaction or a reading that takes longer: its connection is given up

# A frozen process must not keep owners locked, and no statement may outlive who asked. Statistics of fresh tables lead
# to scans of whole tables, which cost half the speed until the first ANALYZE; so would joins other than by an index.
# `jit` costs more than any statement here.
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
SET enable_hashjoin = off;
SET enable_mergejoin = off;
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
    """Connect to one host. Raises: what `is_lost` knows; asyncpg.PostgresError (a wrong password, no such database)."""
    connection = await asyncpg.connect(address, timeout=CONNECT_SECONDS)
    try:
        with terminated_after(connection, CONNECT_SECONDS):
            await connection.execute(_SETTINGS)
            found = await connection.fetchrow(_LOOK)
    except BaseException:
        connection.terminate()
        raise
    assert found is not None  # noqa: S101  a SELECT without FROM has one row
    return Host(connection, found["system_identifier"], found["timeline"], found["in_recovery"])


def is_lost(error: BaseException, connection: Connection | None) -> bool:
    """Tell whether the error is one of the connection or its host, so that another connection may do better.

    asyncpg has one class for calls on a closed connection and for values that no column takes.
    """
    is_closed = connection is not None and connection.is_closed()
    return is_closed or (isinstance(error, LOST) and not isinstance(error, asyncpg.InterfaceError))


@contextmanager
def terminated_after(connection: Connection, seconds: float) -> Iterator[None]:
    """Give the connection up when what is done here takes longer; what waits for it then gets an error.

    Not a time-out of asyncpg's: that sends a cancel, and a COMMIT that waits for a standby would go on without it.
    """
    watchdog = asyncio.get_running_loop().call_later(seconds, connection.terminate)
    try:
        yield
    finally:
        watchdog.cancel()
