"""Moves a whole server from one store to another, all of it or nothing: SQLite in a folder, or a PostgreSQL database.

Both are held meanwhile, so that no server starts on either. Every table is copied in chunks, and read once more from
the target: as many rows with the same checksum, or nothing has happened.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Final

import msgspec

from reflecto.bootstrap import open_store
from reflecto.config import Settings
from reflecto.crypto.server_keys import ServerKeys
from reflecto.data_folder import give_files_to_owner, make_folder, sync_folder
from reflecto.server_keys import export_keys, put_keys
from reflecto.store.moving import TABLES, Source, Target, copy_table, sum_table
from reflecto.store.postgres.moving import moving_postgres
from reflecto.store.sqlite.copying import examine_store
from reflecto.store.sqlite.database import DATABASE_NAME
from reflecto.store.sqlite.moving import MovingSqlite

_SCHEMES: Final = ("postgresql://", "postgres://")


class MoveError(Exception):
    """The server cannot be moved; the message says why and what to do. Nothing has changed."""

    exit_code: ClassVar[int] = 2  # what the commands exit with


@dataclass(frozen=True, slots=True)
class Moved:
    """What has moved: rows by table."""

    rows: dict[str, int]


def is_database(place: str) -> bool:
    """Tell whether a place is the address of a database, and no folder."""
    return place.startswith(_SCHEMES)


async def move(source: str, target: str, settings: Settings) -> Moved:
    """Copy the server at `source` to `target`, each a folder or the address of a database.

    The keys in `settings` (the environment's, else its folder's) are those of a source that is a database.
    Raises: MoveError; ServerKeysError; DataFolderError; StoreUnavailableError; OSError.
    """
    if not is_database(source) and not (Path(source) / DATABASE_NAME).is_file():
        raise MoveError(f"no server has run in {source}: there is no {DATABASE_NAME}; name its data folder with --from")
    keys = await _keys_of(source, settings)
    async with _opened_source(source) as opened, _opened_target(target, keys) as filled:
        sums = {}
        for table in TABLES:
            columns = await _common_columns(opened, filled, table)
            copied = await copy_table(opened, filled, table, columns)
            kept = await sum_table(filled, table, columns)
            if copied != kept:
                raise MoveError(f"{table}: {copied.rows} rows were read and {kept.rows} are there, or they differ")
            sums[table] = kept.rows
        await filled.begin_epoch(await opened.epoch() + 1)
    return Moved(sums)


async def _keys_of(place: str, settings: Settings) -> ServerKeys:
    """Return the keys of the server at `place`, which brings its store up to date, as a start would."""
    there = msgspec.structs.replace(settings, **({"store": place} if is_database(place) else {"data": Path(place)}))
    store = await open_store(there, is_server=False)
    try:
        return await export_keys(store, there.data, there.keys, is_shared=is_database(place))
    finally:
        await store.close()


async def _common_columns(source: Source, target: Target, table: str) -> list[str]:
    """Return the columns of a table, which are the same at both ends, in the order in which they are summed."""
    here, there = await source.columns(table), await target.columns(table)
    if here != there:
        raise MoveError(f"{table} has other columns at both ends: {', '.join(sorted(here ^ there))}")
    return sorted(here)


@asynccontextmanager
async def _opened_source(place: str) -> AsyncIterator[Source]:
    if is_database(place):
        async with moving_postgres(place) as opened:
            yield opened
    else:
        with MovingSqlite.lock(Path(place) / DATABASE_NAME) as found:
            yield found


@asynccontextmanager
async def _opened_target(place: str, keys: ServerKeys) -> AsyncIterator[Target]:
    """Hold the target, refuse one that is not empty, and keep what was written at the end."""
    if is_database(place):
        async with moving_postgres(place) as opened:
            if not await opened.is_empty():
                raise MoveError("the database has a server already; name an empty one")
            yield opened
        return
    folder = Path(place)
    if (folder / DATABASE_NAME).exists():
        raise MoveError(f"{folder} has a server already; name an empty folder")
    make_folder(folder)
    with TemporaryDirectory(prefix=".reflecto-move.", dir=folder) as scratch:
        made = Path(scratch) / DATABASE_NAME
        with MovingSqlite.make(made) as filled:
            yield filled
            filled.commit()
        examine_store(made)
        put_keys(folder, keys)  # before the store: without it they are nobody's
        os.link(made, folder / DATABASE_NAME)  # fails where a server has been started meanwhile
        sync_folder(folder)
    give_files_to_owner(folder)
