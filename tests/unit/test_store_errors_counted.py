"""What goes wrong in a store is counted by how, for whoever watches it."""

import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.store import PostgresStore
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.sqlite.store import SqliteStore
from tests.databases import Databases
from tests.fakes import BOUND_SECONDS
from tests.postgres import connected


async def test_a_transaction_that_the_disk_refused_is_one_that_failed(tmp_path: Path):
    def refuse(_connection: sqlite3.Connection) -> NoReturn:
        raise sqlite3.OperationalError("database or disk is full")

    store = SqliteStore.open(tmp_path)
    try:
        commits = sum(store.work.verbs.counts)
        with pytest.raises(StoreUnavailableError):
            await store._database.write(refuse)  # noqa: SLF001  no verb fails by itself
        assert store.work.errors.by_labels == {("failed",): 1}
        assert sum(store.work.verbs.counts) == commits
    finally:
        await store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no binaries for Windows")
async def test_a_connection_lost_in_a_transaction_is_counted_and_the_transaction_is_done_once(
    tmp_path: Path, databases: Databases
):
    address, runs = await databases.of(tmp_path), 0

    async def found_once_cut(transaction: Transaction) -> None:
        nonlocal runs
        runs += 1
        await transaction.connection.execute("INSERT INTO owners (id, created_at) VALUES ('own_1', 1)")
        if runs == 1:
            await _cut_all_connections(address)

    store = await PostgresStore.open(address)
    try:
        commits = sum(store.work.verbs.counts)
        async with asyncio.timeout(BOUND_SECONDS):
            await store._database.transactions.run(found_once_cut)  # noqa: SLF001  no verb is cut by itself
        assert runs == 2
        assert len(await store.list_owners()) == 1
        assert store.work.errors.by_labels == {("connection_lost",): 1}
        assert sum(store.work.verbs.counts) == commits + 1
    finally:
        await store.close()
        databases.give_back(tmp_path)


async def _cut_all_connections(address: str) -> None:
    async with connected(address) as own:
        await own.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
