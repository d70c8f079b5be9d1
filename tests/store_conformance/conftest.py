"""The stores that have to pass. A further one plugs in here, and nowhere else."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Protocol

import pytest

from reflecto.core.ports.store import Store
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.store import SqliteStore


class OpenStore(Protocol):
    """Opens, on the event loop, the store that belongs to a folder: made if missing, shared if open already."""

    def __call__(self, folder: Path, bounds: QueueLimits = ..., /) -> Store: ...


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


@pytest.fixture
async def open_bounded(
    request: pytest.FixtureRequest, open_store: OpenStore, tmp_path: Path
) -> AsyncIterator[Callable[[], Store]]:
    """Open handles of one store with the bounds of queues that the test's module names."""
    async with AsyncExitStack() as stack:

        def open_handle() -> Store:
            handle = open_store(tmp_path, request.module.BOUNDS)
            stack.push_async_callback(handle.close)
            return handle

        yield open_handle
