"""Two versions at once: a newer schema is used as far as it allows that, and no step breaks those that are live."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from reflecto.core.model import Delivery
from reflecto.store.postgres.connection import Connection, open_connection
from reflecto.store.postgres.schema import (
    NewerDatabaseError,
    OlderProcessesError,
    Schema,
    migrate,
    read_schema,
    require_readable,
)
from reflecto.store.postgres.steps import Step, load_steps
from reflecto.store.postgres.store import PostgresStore

KNOWN = load_steps()
NOW = 1_800_000_000
# A column in each table that verbs write to, with a default, as an expanding step adds it.
EXPAND = Step.of(
    "next.sql",
    "".join(
        f"ALTER TABLE {table} ADD COLUMN added text NOT NULL DEFAULT 'x';"
        for table in ("installation", "owners", "devices", "tokens", "interactions", "queue", "writers", "news")
    ),
)
INDEX = Step.of(
    "index.sql", "-- concurrently\nCREATE INDEX CONCURRENTLY IF NOT EXISTS owners_by_time ON owners (created_at)"
)
# What only older code needs goes.
CONTRACT = Step.of("contract.sql", f"-- oldest reader {len(KNOWN) + 1}\nALTER TABLE owners DROP COLUMN created_at")


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Connection]:
    """Return a connection as a process opens it."""
    connection = (await open_connection(address)).connection
    try:
        yield connection
    finally:
        connection.terminate()


async def live(connection: Connection, schema: int, seconds: int = 60) -> None:
    """Let a process of this schema be live for so long."""
    await connection.execute(
        "INSERT INTO processes (id, live_until, version, schema, address) "
        "VALUES ($1, clock_timestamp() + make_interval(secs => $2), '0.1.0', $3, '10.0.0.7')",
        f"prc_{schema}",
        float(seconds),
        schema,
    )


async def add_owner(connection: Connection) -> None:
    """Make an owner with one phone."""
    await connection.execute("INSERT INTO owners (id, created_at) VALUES ('own_1', 1)")
    await connection.execute(
        "INSERT INTO devices (id, owner_id, token_hash, public_key, signing_key, label, type, class, created_at) "
        "VALUES ('dev_1', 'own_1', '\\x01', '\\x02', '\\x03', 'Phone', 'cli', 'phone', 1)"
    )


async def test_processes_that_start_at_once_on_an_empty_database_make_one_schema(address: str):
    async def start() -> Schema:
        async with connected(address) as connection:
            await migrate(connection)
            return await read_schema(connection)

    found = await asyncio.gather(*(start() for _ in range(4)))
    assert found == [Schema(len(KNOWN), 1)] * 4


async def test_a_newer_schema_that_has_only_grown_is_used_by_this_version_also_while_it_grows(address: str):
    store = await PostgresStore.open(address)
    try:
        async with connected(address) as connection:
            await add_owner(connection)
            delivery = Delivery("dev_1", b"blob", NOW + 60)
            assert await store.append_to_queues([delivery]) == ["dev_1"]  # its statements are prepared from here on
            await migrate(connection, [*KNOWN, EXPAND, INDEX])
            assert await read_schema(connection) == Schema(len(KNOWN) + 2, 1)
        assert await store.append_to_queues([delivery]) == ["dev_1"]
        assert [entry.seq for entry in await store.read_queue("dev_1", 0, 9, NOW) or ()] == [1, 2]
        later = await PostgresStore.open(address)
        assert await later.ack_queue("dev_1", 2)
        await later.close()
    finally:
        await store.close()


async def test_a_newer_schema_that_needs_newer_code_is_refused_and_left_alone(address: str):
    async with connected(address) as connection:
        await migrate(connection, [*KNOWN, CONTRACT])
        with pytest.raises(NewerDatabaseError, match=f"knows schema {len(KNOWN) + 1}; this one knows {len(KNOWN)}"):
            await PostgresStore.open(address)
        with pytest.raises(NewerDatabaseError):
            await require_readable(connection)
        assert await read_schema(connection) == Schema(len(KNOWN) + 1, len(KNOWN) + 1)


async def test_a_step_that_contracts_is_left_while_an_older_process_is_live_and_taken_once_it_is_gone(
    address: str, caplog: pytest.LogCaptureFixture
):
    async with connected(address) as connection:
        await migrate(connection)
        await live(connection, len(KNOWN))
        await migrate(connection, [*KNOWN, EXPAND, CONTRACT])
        assert await read_schema(connection) == Schema(len(KNOWN) + 1, 1)
        assert "has to wait for processes of older versions to stop: 0.1.0 at 10.0.0.7" in caplog.text
        await connection.execute("UPDATE processes SET live_until = clock_timestamp()")
        await live(connection, len(KNOWN) + 1)
        await migrate(connection, [*KNOWN, EXPAND, CONTRACT])
        assert await read_schema(connection) == Schema(len(KNOWN) + 2, len(KNOWN) + 1)


async def test_a_version_that_needs_more_than_a_step_that_has_to_wait_does_not_start(address: str):
    async with connected(address) as connection:
        await migrate(connection)
        await live(connection, len(KNOWN))
        with pytest.raises(OlderProcessesError, match=r"contract\.sql has to wait"):
            await migrate(connection, [*KNOWN, CONTRACT, EXPAND])
        assert await read_schema(connection) == Schema(len(KNOWN), 1)


async def test_no_process_becomes_live_between_the_look_and_the_end_of_a_step_that_contracts(address: str):
    async with connected(address) as connection, connected(address) as other:
        await migrate(connection)
        slow = Step.of("slow.sql", f"-- oldest reader {len(KNOWN) + 1}\nSELECT pg_advisory_xact_lock(7)")
        await other.execute("SELECT pg_advisory_lock(7)")
        stepping = asyncio.create_task(migrate(connection, [*KNOWN, slow]))
        while not await other.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
            await other.execute("SELECT 1")
        await other.execute("SET lock_timeout = '100ms'")
        with pytest.raises(asyncpg.LockNotAvailableError):
            await live(other, len(KNOWN))
        await other.execute("SELECT pg_advisory_unlock(7)")
        await stepping


async def test_a_step_that_others_keep_waiting_gives_way_and_is_tried_again(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("reflecto.store.postgres.schema._IN_STEP", "SET LOCAL lock_timeout = '50ms'")
    async with connected(address) as connection, connected(address) as other:
        await migrate(connection)
        await other.execute("BEGIN")
        await other.execute("SELECT id FROM owners")  # an open transaction has looked at the table
        stepping = asyncio.create_task(migrate(connection, [*KNOWN, EXPAND]))
        async with connected(address) as third:
            # Behind a step that waits, everybody would; after it has given way, all go on.
            waits = "SELECT count(*) FROM pg_locks WHERE relation = 'owners'::regclass AND NOT granted"
            while not await third.fetchval(waits):
                await third.execute("SELECT 1")
            while await third.fetchval(waits):
                await third.execute("SELECT 1")
            assert await third.fetch("SELECT id FROM owners") == []
        await other.execute("ROLLBACK")
        await stepping
        assert await read_schema(connection) == Schema(len(KNOWN) + 1, 1)


async def test_an_index_that_was_cut_short_is_built_anew(address: str):
    async with connected(address) as connection, connected(address) as other:
        await migrate(connection)
        await add_owner(other)
        await other.execute("BEGIN")
        await other.execute("UPDATE owners SET created_at = 2")
        await connection.execute("SET lock_timeout = '50ms'")
        with pytest.raises(asyncpg.LockNotAvailableError):  # leaves an index that nobody uses
            await connection.execute(INDEX.sql)
        await other.execute("ROLLBACK")
        await migrate(connection, [*KNOWN, INDEX])
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'owners_by_time'::regclass"
        assert await connection.fetchval(valid) is True


async def test_a_step_that_fails_leaves_the_schema_as_it_was(address: str):
    async with connected(address) as connection:
        await migrate(connection)
        wrong = Step.of("wrong.sql", "ALTER TABLE owners ADD COLUMN more text; SELECT no_such_thing()")
        with pytest.raises(asyncpg.UndefinedFunctionError):
            await migrate(connection, [*KNOWN, wrong])
        assert await read_schema(connection) == Schema(len(KNOWN), 1)
        columns = await connection.fetch("SELECT * FROM owners LIMIT 0")
        assert columns == []
        await migrate(connection, [*KNOWN, EXPAND])


def test_every_statement_names_its_columns():
    folder = Path(__file__).parents[2] / "src" / "reflecto" / "store" / "postgres"
    tables = "|".join(re.findall(r"CREATE (?:UNLOGGED )?TABLE (\w+)", "".join(step.sql for step in KNOWN)))
    forms = (r"INSERT INTO (?:ANY)(?: AS \w+)? (?!\(|AS )", r"SELECT \* FROM (?:ANY)", r"RETURNING \*", r"\b\w+\.\*")
    unnamed = re.compile("|".join(forms).replace("ANY", tables))
    found = {
        f"{each.name}: {match[0]}"
        for each in (*folder.glob("*.py"), *folder.glob("migrations/*.sql"))
        for match in unnamed.finditer(each.read_text("utf-8"))
    }
    assert found == set()
    assert unnamed.search("INSERT INTO owners VALUES ($1)")
    assert unnamed.search("SELECT * FROM owners")
