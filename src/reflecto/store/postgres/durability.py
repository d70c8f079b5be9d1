"""Whether the database's settings keep what was accepted, as codes of `contract.store_concerns`."""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from reflecto.contract.store_concerns import CONCERNS
from reflecto.store.postgres.connection import Connection

OLDEST_VERSION: Final = 140_000
CONNECTIONS_A_PROCESS: Final = 4

_SETTINGS: Final = """
SELECT current_setting('server_version_num')::int,
       current_setting('fsync'),
       current_setting('full_page_writes'),
       current_setting('synchronous_commit'),
       current_setting('synchronous_standby_names'),
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT count(*) FROM processes WHERE live_until > clock_timestamp())
"""

logger = logging.getLogger(__name__)


class Settings(NamedTuple):
    """What the database says. `version` as 160004 for 16.4; `connections` for all; `processes` of the server now."""

    version: int
    fsync: str
    full_page_writes: str
    synchronous_commit: str
    standbys: str
    connections: int
    processes: int


def judge_settings(found: Settings) -> tuple[str, ...]:
    """Return what is wrong."""
    concerns = {
        "fsync_off": found.fsync == "off",
        "full_page_writes_off": found.full_page_writes == "off",
        "synchronous_commit_off": found.synchronous_commit == "off",
        "standby_not_waited_for": bool(found.standbys) and found.synchronous_commit == "local",
        "no_synchronous_standby": not found.standbys,
        "old_postgresql": found.version < OLDEST_VERSION,
        "few_connections": found.connections < CONNECTIONS_A_PROCESS * (found.processes + 1),
    }
    return tuple(code for code, is_so in concerns.items() if is_so)


async def find_concerns(connection: Connection) -> tuple[str, ...]:
    """Ask the database, and judge. Raises: asyncpg.PostgresError."""
    row = await connection.fetchrow(_SETTINGS)
    return judge_settings(Settings(*row)) if row else ()


def warn(concerns: Sequence[str]) -> None:
    """Log what is wrong, at a start."""
    for code in concerns:
        logger.warning("the database: %s; %s", CONCERNS[code].message, CONCERNS[code].advice)
