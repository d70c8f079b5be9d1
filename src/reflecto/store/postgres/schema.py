"""The schema of the database: migrations from an empty one, safe when several processes start at once."""

from importlib.resources import files
from typing import Final

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.connection import Connection

OLDEST_READER: Final = 1  # the oldest schema whose code works beside this one's

_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('reflecto schema'))"


class NewerDatabaseError(StoreUnavailableError):
    """The database was written by a newer version of Reflecto, which this one cannot read."""


def scripts() -> list[str]:
    """Return the migrations in their order: the n-th makes schema n."""
    found = sorted(
        (each for each in files(f"{__package__}.migrations").iterdir() if each.name.endswith(".sql")),
        key=lambda each: each.name,
    )
    return [each.read_text("utf-8") for each in found]


async def migrate(connection: Connection) -> None:
    """Bring the schema up to date, all of it or nothing. Raises: NewerDatabaseError, asyncpg.PostgresError."""
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = '60s'")
        await connection.execute(_LOCK)
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS schema (version integer NOT NULL, oldest_reader integer NOT NULL)"
        )
        row = await connection.fetchrow("SELECT version, oldest_reader FROM schema")
        version, oldest_reader = row or (0, 0)
        known = scripts()
        if oldest_reader > len(known):
            raise NewerDatabaseError(f"the database needs schema {oldest_reader}, this version knows {len(known)}")
        for script in known[version:]:
            await connection.execute(script)
        if version < len(known):
            await connection.execute("DELETE FROM schema")
            await connection.execute("INSERT INTO schema VALUES ($1, $2)", len(known), OLDEST_READER)
