"""`GET /readyz`: whether something new can be stored, found out at most once a second for everybody who asks."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes import FakeClock, FaultyStore
from tests.running import RunningServer, run_server


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server whose store can be made to fail."""
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as running:
        yield running


@pytest.fixture
def store(server: RunningServer) -> FaultyStore:
    """That store."""
    assert isinstance(server.services.store, FaultyStore)
    return server.services.store


async def ready(server: RunningServer) -> int:
    """Return the status of the reply."""
    return (await server.http.get("/readyz")).status_code


async def test_many_that_ask_within_a_second_share_one_probe(
    server: RunningServer, store: FaultyStore, clock: FakeClock
):
    assert set(await asyncio.gather(*(ready(server) for _ in range(20)))) == {200}
    clock.advance(0.9)
    assert await ready(server) == 200
    assert store.calls.count("probe") == 1
    clock.advance(0.1)
    assert await ready(server) == 200
    assert store.calls.count("probe") == 2


async def test_trouble_is_told_within_a_second_and_so_is_its_end(
    server: RunningServer, store: FaultyStore, clock: FakeClock
):
    assert await ready(server) == 200
    store.fail("probe")
    clock.advance(1)
    assert [await ready(server) for _ in range(3)] == [503] * 3
    assert store.calls.count("probe") == 2
    store.recover()
    clock.advance(1)
    assert await ready(server) == 200
