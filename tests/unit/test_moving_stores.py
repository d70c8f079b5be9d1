"""A store is moved as a whole or not at all, in chunks, and every row is compared at its new place."""

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflecto.bootstrap import open_store
from reflecto.config import Settings
from reflecto.server_keys import ServerKeysError, load_keys
from reflecto.store.moving import CHUNK_ROWS, TABLES, Row, TableSum, copy_table, sum_table
from reflecto.store.postgres.moving import MovingPostgres
from reflecto.store.postgres.steps import load_steps
from reflecto.store_move import MoveError, move
from tests.builders import NOW, make_delivery
from tests.databases import Databases
from tests.postgres import connected
from tests.store_conformance.world import created, found_owner, join

# What a server's processes say of themselves and of their agents' calls while they run, and what a database says of
# itself.
STAYS = {
    "schema",
    "epoch",
    "writers",
    "processes",
    "presence",
    "news",
    "counts",
    "load",
    "unread_questions",
    "call_places",
}


@pytest.fixture
async def database(databases: Databases, tmp_path: Path) -> AsyncIterator[str]:
    """An empty database."""
    yield await databases.of(tmp_path)
    databases.give_back(tmp_path)


@pytest.fixture
async def source(tmp_path: Path) -> Path:
    """A folder with a stopped server that has a bit of most things."""
    folder = tmp_path / "source"
    folder.mkdir()
    store = await open_store(Settings(data=folder))
    await load_keys(store, folder)
    for _ in range(3):
        phone, token = await found_owner(store)
        await created(store, token, phone, await join(store, phone.owner_id))
        await store.append_to_queues([make_delivery(phone, bytes([number])) for number in range(9)])
    await store.close()
    return folder


async def test_a_label_with_a_nul_which_postgresql_refuses_moves_without_it(tmp_path: Path, database: str):
    folder = tmp_path / "source"
    folder.mkdir()
    store = await open_store(Settings(data=folder))
    await load_keys(store, folder)
    phone, _ = await found_owner(store, label="Pix\0el 9\0")
    await store.close()
    await move(str(folder), database, Settings(data=folder))
    moved = await open_store(Settings(data=folder, store=database), is_server=False)
    (found,) = await moved.list_devices(phone.owner_id)
    await moved.close()
    assert found.label == "Pixel 9"


async def rows_in(database: str) -> dict[str, int]:
    """Count the rows of each table that moves."""
    async with connected(database) as connection:
        return {table: len(await connection.fetch(f"TABLE {table}")) for table in TABLES}


class Rows:
    """A store of one table."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.stored, self.chunks = list(rows), list[int]()

    async def columns(self, _table: str) -> set[str]:
        return {"a", "b"}

    async def rows(self, _table: str, _columns: Sequence[str]) -> AsyncIterator[Row]:
        for row in self.stored:
            yield row

    async def write(self, _table: str, _columns: Sequence[str], rows: Sequence[Row]) -> None:
        self.chunks.append(len(rows))
        self.stored += rows

    async def epoch(self) -> int:
        return 0

    async def begin_epoch(self, epoch: int) -> None: ...


async def test_a_table_is_copied_in_chunks_of_rows_and_of_bytes():
    few, large = Rows([]), Rows([])
    copied = await copy_table(Rows([(number, b"x") for number in range(CHUNK_ROWS + 1)]), few, "queue", ["a", "b"])
    assert few.chunks == [CHUNK_ROWS, 1]
    assert await sum_table(few, "queue", ["a", "b"]) == copied
    await copy_table(Rows([(1, bytes(600_000))] * 5), large, "queue", ["a", "b"])
    assert large.chunks == [2, 2, 1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([(1, b"a"), (2, b"b")], [(2, b"b"), (1, b"a")], True),
        ([(True, None)], [(1, None)], True),
        ([(1, b"a")], [(1, b"b")], False),
        ([(1, "a")], [(1, b"a")], False),
        ([(1, None)], [(1, "")], False),
        ([(1, 1.5)], [(1, 1.25)], False),
        ([(1, 2), (1, 2)], [(1, 2)], False),
        ([(1, 2), (1, 2)], [(1, 3), (1, 1)], False),
    ],
)
def test_the_sum_of_a_table_tells_other_rows_from_the_same_in_another_order(one: Any, other: Any, *, same: bool):
    sums = []
    for rows in (one, other):
        found = TableSum()
        for row in rows:
            found.add(row)
        sums.append(found)
    assert (sums[0] == sums[1]) is same


def test_every_table_of_both_schemas_moves_or_is_known_to_stay():
    folder = Path(__file__).parents[2] / "src" / "reflecto" / "store" / "sqlite" / "migrations"
    sqlite = "".join(each.read_text("utf-8") for each in folder.glob("*.sql"))
    postgres = "".join(each.sql for each in load_steps())
    named = re.compile(r"CREATE (?:UNLOGGED )?TABLE (\w+)")
    assert set(named.findall(sqlite)) == set(TABLES)
    assert set(named.findall(postgres)) == set(TABLES) | STAYS - {"schema"}


async def test_a_move_into_a_database_counts_every_row_and_raises_the_epoch(source: Path, database: str):
    moved = await move(str(source), database, Settings())
    assert moved.rows == await rows_in(database)
    assert (moved.rows["owners"], moved.rows["devices"], moved.rows["queue"]) == (3, 6, 33)
    async with connected(database) as connection:
        assert await connection.fetchval("SELECT number FROM epoch") == 1


async def test_numbers_rise_by_the_epoch_at_each_move_also_on_sqlite(source: Path, database: str, tmp_path: Path):
    await move(str(source), database, Settings())
    await move(database, str(tmp_path / "back"), Settings(data=source))
    store = await open_store(Settings(data=tmp_path / "back"))
    await store.number_from(1_000)
    phone = (await store.list_devices((await store.list_owners())[0].id))[0]
    await store.append_to_queues([make_delivery(phone)])
    entries = await store.read_queue(phone.id, 0, 99, NOW)
    await store.close()
    assert entries is not None
    assert entries[-1].seq == (2 << 43) + 1_001
    assert max(entry.seq for entry in entries[:-1]) < entries[-1].seq < 2**53


async def test_a_move_that_finds_a_difference_leaves_the_target_empty(
    source: Path, database: str, monkeypatch: pytest.MonkeyPatch
):
    write = MovingPostgres.write

    async def lose_one(self: MovingPostgres, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        await write(self, table, columns, rows[1:] if table == "queue" else rows)

    monkeypatch.setattr(MovingPostgres, "write", lose_one)
    with pytest.raises(MoveError, match="queue: 33 rows were read and 32 are there"):
        await move(str(source), database, Settings())
    assert set((await rows_in(database)).values()) == {0}
    monkeypatch.undo()
    assert (await move(str(source), database, Settings())).rows["queue"] == 33


async def test_keys_of_another_server_are_refused_and_nothing_moves(source: Path, database: str, tmp_path: Path):
    await move(str(source), database, Settings())
    other = await open_store(Settings(data=tmp_path / "other"))
    await load_keys(other, tmp_path / "other")
    await other.close()
    with pytest.raises(ServerKeysError, match="not the key this store was made with"):
        await move(database, str(tmp_path / "back"), Settings(data=tmp_path / "other"))
    assert not (tmp_path / "back").exists()


async def test_a_folder_that_no_server_has_run_in_is_named_with_the_option_that_names_it(tmp_path: Path, database: str):
    with pytest.raises(MoveError, match=r"no server has run in .*/typo: .* --from"):
        await move(str(tmp_path / "typo"), database, Settings(data=tmp_path))
    assert not any((await rows_in(database)).values())
