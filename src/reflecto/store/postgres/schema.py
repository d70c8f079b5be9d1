"""The schema of the database: brought up to date by the first process of a new version, beside those of the old one.

A row says which schema it is, and the oldest whose code still works with it (`oldest_reader`): older code uses a newer
schema as it is, until a step contracts. Such a step waits until no older process is live.
"""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.steps import Step, load_steps

TRIES_MAX: Final = 10  # of a step that others keep waiting
PAUSE_SECONDS: Final = 0.2
OTHERS_SECONDS: Final = 60.0  # how long another process may take to bring the schema up to date

# Of the session, and asked for instead of waited for: CREATE INDEX CONCURRENTLY waits for whoever waits in a statement.
_TRY_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext('reflecto schema'))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtext('reflecto schema'))"
_FOUND: Final = "CREATE TABLE IF NOT EXISTS schema (version integer NOT NULL, oldest_reader integer NOT NULL)"
_READ: Final = "SELECT version, oldest_reader FROM schema"
_IN_STEP: Final = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '60s'"
# An index that was cut short is there, is kept up to date, and is used by nobody.
_UNFINISHED: Final = (
    "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
    "WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace"
)
# No process can become live between this look and the end of the step.
_STOP_STARTS: Final = "LOCK TABLE processes IN SHARE ROW EXCLUSIVE MODE"
_OLDER: Final = (
    "SELECT id, version, address FROM processes WHERE live_until > clock_timestamp() AND schema < $1 ORDER BY id"
)

logger = logging.getLogger(__name__)


class NewerDatabaseError(StoreUnavailableError):
    """The database was written by a newer version of Reflecto, which this one cannot read."""


class OlderProcessesError(StoreUnavailableError):
    """Processes of an older version are live, which would not work after a step of the schema."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database: 0 where there is none. Code that knows less than `oldest_reader` cannot use it."""

    version: int = 0
    oldest_reader: int = 1


def known_schema() -> int:
    """Return the schema that this version's code knows."""
    return len(load_steps())


async def read_schema(connection: Connection) -> Schema:
    """Return what the database says. Raises: asyncpg.PostgresError."""
    try:
        row = await connection.fetchrow(_READ)
    except asyncpg.UndefinedTableError:
        return Schema()
    return Schema(*row) if row else Schema()


async def require_readable(connection: Connection, known: int | None = None) -> None:
    """Refuse a schema that this version cannot use. Ask again once the process is live. Raises: NewerDatabaseError."""
    _check(await read_schema(connection), known_schema() if known is None else known)


async def migrate(connection: Connection, steps: Sequence[Step] | None = None) -> None:
    """Bring the schema up to date, each step all of it or nothing; safe when several processes start at once.

    `connection` is one of its own: its time limits may be others afterwards. A last step that contracts is left for a
    later start while older processes are live.

    Raises: NewerDatabaseError; OlderProcessesError; StoreUnavailableError; asyncpg.PostgresError.
    """
    steps = load_steps() if steps is None else steps
    schema = await read_schema(connection)
    _check(schema, len(steps))
    if schema.version >= len(steps):
        return
    await _lock(connection)
    try:
        await connection.execute(_FOUND)
        schema = await read_schema(connection)
        _check(schema, len(steps))
        for number, step in enumerate(steps[schema.version :], schema.version + 1):
            try:
                await _take(connection, step, number)
            except OlderProcessesError as error:
                if any(each.oldest_reader is None for each in steps[number:]):
                    raise
                logger.warning("%s; it is left for a later start", error)
                return
    finally:
        if not connection.is_closed():
            await connection.execute(_UNLOCK)


def _check(schema: Schema, known: int) -> None:
    if schema.oldest_reader > known:
        raise NewerDatabaseError(
            f"the database needs a version of Reflecto that knows schema {schema.oldest_reader}; this one knows {known}"
        )


async def _lock(connection: Connection) -> None:
    until = asyncio.get_running_loop().time() + OTHERS_SECONDS
    while not await connection.fetchval(_TRY_LOCK):
        if asyncio.get_running_loop().time() >= until:
            raise StoreUnavailableError("another process has been changing the schema for a minute")
        await _pause()


async def _take(connection: Connection, step: Step, number: int) -> None:
    """Take a step, again where others keep it waiting: whoever waits for a table makes all behind it wait."""
    for left in reversed(range(TRIES_MAX)):
        try:
            if step.concurrently:
                await _take_concurrently(connection, step, number)
            else:
                async with connection.transaction():
                    await connection.execute(_IN_STEP)
                    if step.oldest_reader is not None:
                        await _refuse_older(connection, step)
                    await connection.execute(step.sql)
                    await _write(connection, number, step.oldest_reader)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            if not left:
                raise StoreUnavailableError(f"the schema's step {step.name} never got its locks") from None
            await _pause()
        else:
            return


async def _take_concurrently(connection: Connection, step: Step, number: int) -> None:
    """Build an index while all go on. It waits for transactions that are open, and nobody waits for it."""
    await connection.execute("SET lock_timeout = 0; SET statement_timeout = 0")
    for unfinished in await connection.fetch(_UNFINISHED):
        await connection.execute(f"DROP INDEX CONCURRENTLY {unfinished[0]}")
    await connection.execute(step.sql)
    async with connection.transaction():
        await _write(connection, number, None)


async def _refuse_older(connection: Connection, step: Step) -> None:
    await connection.execute(_STOP_STARTS)
    older = await connection.fetch(_OLDER, step.oldest_reader)
    if older:
        shown = ", ".join(f"{row['version']} at {row['address']}" for row in older)
        raise OlderProcessesError(f"{step.name} has to wait for processes of older versions to stop: {shown}")


async def _write(connection: Connection, version: int, oldest_reader: int | None) -> None:
    before = await read_schema(connection)
    await connection.execute("DELETE FROM schema")
    await connection.execute(
        "INSERT INTO schema (version, oldest_reader) VALUES ($1, $2)",
        version,
        max(before.oldest_reader, oldest_reader or 0),
    )


async def _pause() -> None:
    never = asyncio.Event()
    try:
        async with asyncio.timeout(PAUSE_SECONDS * (0.5 + random.random())):  # noqa: S311  no secret
            await never.wait()
    except TimeoutError:
        pass
