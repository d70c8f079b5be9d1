"""The stores that have to pass. A further one plugs in here, and nowhere else."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

from reflecto.core.ports import Store
from reflecto.store.sqlite.store import SqliteStore

OpenStore = Callable[[Path], Store]
"""Opens, on the event loop, the store that belongs to a folder: made if missing, shared if open already."""

STORES: Final[dict[str, OpenStore]] = {"sqlite": SqliteStore.open}


@pytest.fixture(params=sorted(STORES))
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    """The way to open the store under test."""
    return STORES[request.param]


@pytest.fixture
async def open_again(open_store: OpenStore, tmp_path: Path) -> AsyncIterator[Callable[[], Store]]:
    """Open further handles of one store, as a second process would."""
    async with AsyncExitStack() as stack:

        def open_handle() -> Store:
            handle = open_store(tmp_path)
            stack.push_async_callback(handle.close)
            return handle

        yield open_handle


@pytest.fixture
async def store(open_again: Callable[[], Store]) -> Store:
    """An empty store."""
    return open_again()
