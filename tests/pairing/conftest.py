"""A running server with an owner's first phone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.actors import DeviceActor, enroll
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server


@pytest.fixture
def clock() -> FakeClock:
    """The server's time."""
    return FakeClock()


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server on an empty store."""
    async with run_server(tmp_path, clock) as running:
        yield running


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    """The phone that invites."""
    return await enroll(server)
