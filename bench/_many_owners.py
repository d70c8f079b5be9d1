"""A store with many owners and the rows of a working day, written past the store's verbs: that is quick."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import asyncpg

from reflecto.core.model import Device, Interaction, Token
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.database import Database
from reflecto.store.sqlite.connection import open_connection
from reflecto.store.sqlite.database import DATABASE_NAME
from reflecto.store.sqlite.store import SqliteStore
from reflecto.store.table import Table
from reflecto.store.tables import DEVICES, INTERACTIONS, TOKENS
from tests.builders import NOW, make_device, make_interaction, make_tap, make_token

Rows = list[list[Any]]

BLOB: Final = bytes(300)  # of a sealed prompt; what is in it is all the same to a store


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner with one phone, by a number."""

    id: str
    phone: Device
    token: Token

    @classmethod
    def of(cls, number: int) -> "Owner":
        """Return the owner of this number, the same in every process."""
        spread = sha256(b"%d" % number).digest()  # as random ids are: neighbours are in different places of an index
        owner_id = f"own_{spread[:16].hex()}"
        phone = make_device(owner_id, id=f"dev_{spread[:16].hex()}", token_hash=spread)
        return cls(owner_id, phone, make_token(owner_id, id=f"tok_{spread[:16].hex()}", hash=spread))


def _answered(owner: Owner) -> Interaction:
    return make_interaction(
        owner.token, sealed=BLOB, status="answered", created_at=NOW, ended_at=NOW, tap=make_tap(owner.phone)
    )


def _tables(owners: int, questions: int) -> Iterator[tuple[str, list[str], Rows]]:
    """Yield each table with the names of its columns and its rows."""
    made = [Owner.of(number) for number in range(owners)]
    yield "owners", ["id", "created_at"], [[each.id, NOW] for each in made]
    asked = [_answered(made[number % owners]) for number in range(questions)]
    records: list[tuple[str, Table[Any], list[Any]]] = [
        ("devices", DEVICES, [each.phone for each in made]),
        ("tokens", TOKENS, [each.token for each in made]),
        ("interactions", INTERACTIONS, asked),
    ]
    for name, table, rows in records:
        yield name, table.names, [table.row(each) for each in rows]


async def fill_postgres(address: str, owners: int, questions: int) -> None:
    """Make the tables and fill them; each owner has answered as many questions."""
    await (await Database.open(address, QueueLimits())).close()
    connection = await asyncpg.connect(address)
    try:
        for name, columns, rows in _tables(owners, questions):
            await connection.copy_records_to_table(name, columns=columns, records=rows)
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


async def fill_sqlite(folder: Path, owners: int, questions: int) -> None:
    """The same in a folder."""
    await SqliteStore.open(folder).close()
    with closing(open_connection(folder / DATABASE_NAME)) as connection:
        connection.execute("BEGIN")
        for name, columns, rows in _tables(owners, questions):
            places = ", ".join("?" for _ in columns)
            connection.executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({places})", rows)  # noqa: S608 -- both are ours
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
