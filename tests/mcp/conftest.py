"""A running server with a phone, and official clients of its `/mcp`."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from reflecto.contract.devices import ANSWER_V2
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.mcp.tapping import Person
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    async with run_server(tmp_path, clock) as running:
        yield running


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    return await enroll(server, features=[ANSWER_V2])


@pytest.fixture
def sender(phone: DeviceActor) -> Program:
    return phone.default_program()


@pytest.fixture
async def person(phone: DeviceActor) -> AsyncIterator[Person]:
    async with open_sync(phone) as reader:
        person = Person(phone, reader)
        await person.sees("token.created")  # the Default token, with which the phone came
        yield person


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    """Clients that shake hands, up to the protocol of 2025-11-25, and those of 2026-07-28, which do not."""
    return str(request.param)


@pytest.fixture
def connect(server: RunningServer, sender: Program, mode: str) -> Connect:
    """Connect a client over HTTP with the sender's token, or another."""

    @asynccontextmanager
    async def connected(token: str = sender.token) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=BOUND_SECONDS, trust_env=False) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    return connected
