"""The stores that have to pass. A further one plugs in here, and nowhere else."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Protocol

import pytest

from reflecto.core.ports.store import Store
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.store import PostgresStore
from reflecto.store.sqlite.store import SqliteStore
from tests.databases import Databases

STORES: Final = ["sqlite"] if sys.platform == "win32" else ["postgres", "sqlite"]  # no binaries for Windows


class OpenStore(Protocol):
    """Opens the store that belongs to a folder: made if missing, shared if open already."""

    def __call__(self, folder: Path, bounds: QueueLimits = ..., /) -> Awaitable[Store]: ...


OpenHandle = Callable[[], Awaitable[Store]]


@pytest.fixture(params=STORES)
def store_kind(request: pytest.FixtureRequest) -> str:
    """Which store is under test."""
    return str(request.param)


@pytest.fixture
def open_store(store_kind: str, tmp_path: Path, databases: Databases) -> Iterator[OpenStore]:
    """The way to open the store under test."""
    opened = [tmp_path]

    async def open_sqlite(folder: Path, bounds: QueueLimits = QueueLimits()) -> Store:  # noqa: B008  frozen
        return SqliteStore.open(folder, bounds)

    async def open_postgres(folder: Path, bounds: QueueLimits = QueueLimits()) -> Store:  # noqa: B008  frozen
        opened.append(folder)
        return await PostgresStore.open(await databases.of(folder), bounds)

    yield open_postgres if store_kind == "postgres" else open_sqlite
    for folder in opened:
        databases.give_back(folder)


@pytest.fixture
async def open_again(open_store: OpenStore, tmp_path: Path) -> AsyncIterator[OpenHandle]:
    """Open further handles of one store, as a second process would."""
    async with AsyncExitStack() as stack:

        async def open_handle() -> Store:
            handle = await open_store(tmp_path)
            stack.push_async_callback(handle.close)
            return handle

        yield open_handle


@pytest.fixture
async def store(open_again: OpenHandle) -> Store:
    """An empty store."""
    return await open_again()


@pytest.fixture
async def open_bounded(
    request: pytest.FixtureRequest, open_store: OpenStore, tmp_path: Path
) -> AsyncIterator[OpenHandle]:
    """Open handles of one store with the bounds of queues that the test's module names."""
    async with AsyncExitStack() as stack:

        async def open_handle() -> Store:
            handle = await open_store(tmp_path, request.module.BOUNDS)
            stack.push_async_callback(handle.close)
            return handle

        yield open_handle
