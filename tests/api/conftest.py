"""A running server with an owner: one phone, and the Default token."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.actors import DeviceActor, Program, enroll
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
    """The owner's first phone."""
    return await enroll(server)


@pytest.fixture
def sender(phone: DeviceActor) -> Program:
    """A program with the owner's Default token."""
    return phone.default_program()
