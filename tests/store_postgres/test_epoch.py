"""Above which number queues go on: what restore, migrate and another cluster change."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reflecto.store.moving import EPOCH_SHIFT
from reflecto.store.postgres.store import PostgresStore
from tests.builders import NOW, make_delivery
from tests.databases import Databases
from tests.postgres import connected
from tests.store_conformance.world import found_owner, seqs


@pytest.fixture
async def address(tmp_path: Path, databases: Databases) -> AsyncIterator[str]:
    """An empty database."""
    yield await databases.of(tmp_path)
    databases.give_back(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE epoch SET number = number + 1",
        "UPDATE epoch SET cluster = '1/1'",  # a dump of another cluster brings the row along
    ],
    ids=["raised", "another cluster"],
)
async def test_a_new_epoch_begins_above_every_number_of_the_one_before(address: str, change: str):
    store = await PostgresStore.open(address)
    await store.number_from(NOW * 1000)
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone)])
    (before,) = await seqs(store, phone)
    await store.close()
    assert before == NOW * 1000 + 1  # what SQLite gives
    async with connected(address) as connection:
        await connection.execute(change)
    store = await PostgresStore.open(address)
    await store.number_from(5)  # of a machine whose clock is wrong
    await store.append_to_queues([make_delivery(phone)])
    assert await seqs(store, phone, after=before) == [(1 << EPOCH_SHIFT) + 5 + 1]
    await store.close()


async def test_a_restart_on_the_same_database_stays_in_its_epoch(address: str):
    for expected in (1, 2):
        store = await PostgresStore.open(address)
        if expected == 1:
            phone, _ = await found_owner(store)
        await store.append_to_queues([make_delivery(phone)])
        assert (await seqs(store, phone))[-1] == expected
        await store.close()
