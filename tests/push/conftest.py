"""A running server whose phone subscribes to a push service on loopback."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reflecto.bootstrap import PushOptions
from reflecto.crypto.webpush import VapidKeys
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import FakeClock
from tests.push.push_service import PushServiceOnLoopback
from tests.push.subscriber import Subscriber
from tests.running import RunningServer, run_server


@pytest.fixture
def clock() -> FakeClock:
    """The server's time."""
    return FakeClock()


@pytest.fixture
def options() -> PushOptions:
    """How the server pushes."""
    return PushOptions(VapidKeys.generate(), "mailto:me@example.org", allow_private=True)


@pytest.fixture
async def push_service() -> AsyncIterator[PushServiceOnLoopback]:
    """The push service."""
    async with PushServiceOnLoopback.run() as service:
        yield service


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock, options: PushOptions) -> AsyncIterator[RunningServer]:
    """A server on an empty store."""
    async with run_server(tmp_path, clock, push=options) as running:
        yield running


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    """The owner's phone, without a subscription."""
    return await enroll(server)


@pytest.fixture
async def subscriber(phone: DeviceActor, push_service: PushServiceOnLoopback) -> Subscriber:
    """The phone's subscription; everything queued before is behind it."""
    return await subscribe(phone, push_service)


@pytest.fixture
def sender(phone: DeviceActor) -> Program:
    """A program with the owner's Default token."""
    return phone.default_program()


async def subscribe(device: DeviceActor, service: PushServiceOnLoopback, path: str = "/send/abc") -> Subscriber:
    """Subscribe a device and let it acknowledge what waits for it."""
    subscriber = Subscriber(service.url + path)
    patched = await device.call("PATCH", "/v1/devices/self", json={"push": subscriber.state()})
    assert patched.status_code == 200, patched.text
    return subscriber
