"""Two servers on one PostgreSQL database, as two processes of one server would be, in one event loop."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from reflecto.bootstrap import PushOptions
from reflecto.core.quotas import PROFILES, LimitProfile
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.databases import Databases
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.postgres import connected
from tests.running import RunningServer, run_server


def pytest_ignore_collect() -> bool | None:
    """Leave these out where there are no binaries of PostgreSQL."""
    return True if sys.platform == "win32" else None


@dataclass(frozen=True, slots=True)
class Two:
    """The servers, and their database's address."""

    a: RunningServer
    b: RunningServer
    database: str

    def __iter__(self) -> Iterator[RunningServer]:
        return iter((self.a, self.b))

    def at_b(self, caller: Any) -> Any:
        """Return the device or program, which calls B from here on."""
        return replace(caller, http=self.b.http)


@pytest.fixture
def clock() -> FakeClock:
    """The time of both."""
    return FakeClock()


@pytest.fixture
def limits() -> LimitProfile:
    """What both allow."""
    return PROFILES["self-hosted"]


@pytest.fixture
def push() -> PushOptions | None:
    """How both push."""
    return None


@pytest.fixture
async def two(
    tmp_path: Path, clock: FakeClock, databases: Databases, limits: LimitProfile, push: PushOptions | None
) -> AsyncIterator[Two]:
    """Two servers on an empty database."""
    keys, database = BoxKeys.generate(), await databases.of(tmp_path)
    async with AsyncExitStack() as stack:
        a, b = [
            await stack.enter_async_context(
                run_server(tmp_path, clock, database=database, keys=keys, limits=limits, push=push)
            )
            for _ in range(2)
        ]
        await _until_live(database, 2)
        yield Two(a, b, database)
    databases.give_back(tmp_path)


async def _until_live(database: str, processes: int) -> None:
    """Return once so many have said that they are there: they hear each other from before that on."""
    async with connected(database) as connection:
        async with asyncio.timeout(BOUND_SECONDS):
            while await connection.fetchval("SELECT count(*) FROM processes") < processes:
                pass


@pytest.fixture
async def phone(two: Two) -> DeviceActor:
    """The owner's phone, which calls A."""
    return await enroll(two.a)


@pytest.fixture
def sender(phone: DeviceActor) -> Program:
    """A program with the owner's Default token, which calls A."""
    return phone.default_program()


@pytest.fixture
async def connection(two: Two) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """A connection to the database beside those of the servers."""
    async with connected(two.database) as connection:
        yield connection


async def until(connection: "asyncpg.Connection[Any]", condition: str, *parameters: Any) -> None:
    """Return once the statement says so."""
    async with asyncio.timeout(BOUND_SECONDS):
        while not await connection.fetchval(condition, *parameters):
            pass
