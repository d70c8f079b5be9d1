"""What ends a stream, and what keeps it alive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from starlette.types import Message

from reflecto.api.http import Call
from reflecto.api.sync import COMMENT, SyncStream
from reflecto.contract.limits import SYNC_PAGE_ENTRIES
from tests.actors import DeviceActor, enroll
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import SEND_BUFFER_BYTES, RunningServer
from tests.sync_reader import open_sync, put

HEARTBEAT_SECONDS = 20
BLOB_BYTES = 4_096


async def test_a_comment_every_20_seconds_keeps_an_idle_stream(phone: DeviceActor, clock: FakeClock):
    async with open_sync(phone, after=1) as stream:
        await stream.comment()
        for _ in range(3):
            clock.advance(HEARTBEAT_SECONDS)
            await stream.comment()


async def test_no_comment_comes_before_its_time(server: RunningServer, phone: DeviceActor, clock: FakeClock):
    async with open_sync(phone, after=1) as stream:
        await stream.comment()
        clock.advance(HEARTBEAT_SECONDS - 0.001)
        await put(server, phone, b"a")
        frame = await stream.frame()
        assert frame is not None
        assert frame.startswith(b"id: 2\n")


async def test_the_end_of_the_server_ends_every_stream_in_order(server: RunningServer, phone: DeviceActor):
    async with open_sync(phone) as stream:
        await stream.event()
        server.services.hub.close()
        await stream.end()
    async with open_sync(phone) as late:  # whoever comes while it stops is turned away at once
        await late.end()


async def test_revoking_a_device_ends_its_streams_and_no_others(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, owner=phone)
    async with open_sync(tablet) as first, open_sync(tablet) as second, open_sync(phone, after=2) as other:
        for stream in (first, second, other):
            await stream.comment()
        await phone.call("DELETE", f"/v1/devices/{tablet.id}")
        await first.end()
        await second.end()
        await put(server, phone, b"a")
        assert (await other.event()).blob == b"a"


async def test_a_fifth_stream_ends_the_oldest(server: RunningServer, phone: DeviceActor):
    async with AsyncExitStack() as stack:
        streams = []
        for _ in range(5):
            streams.append(await stack.enter_async_context(open_sync(phone, after=1)))
            await streams[-1].comment()
        await streams[0].end()
        await put(server, phone, b"a")
        for stream in streams[1:]:
            assert (await stream.event()).blob == b"a"


async def test_the_limit_of_streams_is_per_device(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, owner=phone)
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(open_sync(each, after=9)) for each in (phone, tablet) * 4]
        await put(server, phone, b"a")
        await put(server, tablet, b"a")
        for stream in streams:
            while (await stream.event()).blob != b"a":
                pass


class StoppedReader:
    """A client on a bare socket that opens the stream and then reads nothing until told to."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def everything(self) -> bytes:
        """Read until the server has closed."""
        async with asyncio.timeout(BOUND_SECONDS):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""


@asynccontextmanager
async def stopped_reader(server: RunningServer, device: DeviceActor) -> AsyncIterator[StoppedReader]:
    """Open the device's stream and read no further than the first byte."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1_024)
    try:
        writer.write(
            f"GET /v1/sync?after=1 HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {device.token}\r\n\r\n".encode()
        )
        async with asyncio.timeout(BOUND_SECONDS):
            await reader.readexactly(1)
        yield StoppedReader(reader)
    finally:
        writer.close()


@pytest.fixture
async def flooded(server: RunningServer, phone: DeviceActor) -> int:
    """Fill the phone's queue with far more than all buffers hold; return the last number."""
    blobs = [b"%04d" % number + bytes(BLOB_BYTES) for number in range(2_000)]
    await put(server, phone, *blobs)
    return 2_001


async def test_a_reader_that_stops_is_cut_off_and_resumes_without_loss(
    server: RunningServer, phone: DeviceActor, clock: FakeClock, flooded: int
):
    async with stopped_reader(server, phone) as stopped:
        for still_there in (True, False):  # 20 s without taking anything, wherever between two beats it stopped
            clock.advance(HEARTBEAT_SECONDS)
            await phone.call("GET", "/v1/devices")  # the server acts on the beat before it answers
            assert bool(await server.services.presence.connected([phone.id])) == still_there
        received = (await stopped.everything()).count(b"\nevent: message\n")
    assert received < flooded - 1
    async with open_sync(phone, after=1 + received) as stream:
        events = await stream.events(flooded - 1 - received)
    assert [event.id for event in events] == list(range(received + 2, flooded + 1))


async def test_what_a_stopped_reader_makes_the_server_hold_is_bounded(
    server: RunningServer, phone: DeviceActor, flooded: int
):
    assert flooded * BLOB_BYTES > 5_000_000
    page_bytes = SYNC_PAGE_ENTRIES * (BLOB_BYTES * 4 // 3 + 200)
    async with stopped_reader(server, phone):
        for _ in range(20):
            await put(server, phone, bytes(BLOB_BYTES))
        buffered = [each.transport.get_write_buffer_size() for each in server.uvicorn.server_state.connections]
        assert max(buffered) <= 65_536 + page_bytes + SEND_BUFFER_BYTES


async def test_a_slow_reader_that_takes_something_now_and_then_is_kept(
    server: RunningServer, phone: DeviceActor, clock: FakeClock, flooded: int
):
    async with open_sync(phone, after=1) as stream:
        taken = 0
        while taken < flooded - 1:
            clock.advance(HEARTBEAT_SECONDS)
            taken += len(await stream.events(min(400, flooded - 1 - taken)))
        assert await server.services.presence.connected([phone.id])


class Valve:
    """The sending side of an ASGI connection, which a test can close as a full socket does."""

    def __init__(self) -> None:
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.disconnected = asyncio.Event()
        self._offered: asyncio.Queue[bytes] = asyncio.Queue()
        self._sent: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(self, message: Message) -> None:
        """Take a message once the valve is open."""
        self._offered.put_nowait(message.get("body", b""))
        await self.is_open.wait()
        self._sent.put_nowait(message.get("body", b""))

    async def receive(self) -> Message:
        """Tell when the client has left."""
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def until_offered(self, body: bytes) -> None:
        """Return once this was to be sent."""
        async with asyncio.timeout(BOUND_SECONDS):
            while await self._offered.get() != body:
                pass

    async def until_sent(self, start: bytes) -> None:
        """Return once something that starts so was sent."""
        async with asyncio.timeout(BOUND_SECONDS):
            while not (await self._sent.get()).startswith(start):
                pass


async def test_what_arrives_while_a_heartbeat_waits_for_the_reader_is_sent_right_behind_it(
    server: RunningServer, phone: DeviceActor
):
    valve = Valve()
    stream = SyncStream(Call({}, valve.receive, valve.send), server.services.devices, phone.id, after=1)
    running = asyncio.create_task(stream.run())
    await valve.until_offered(COMMENT)
    await valve.until_sent(COMMENT)
    valve.is_open.clear()
    stream.beat()
    await valve.until_offered(COMMENT)
    await put(server, phone, b"late")
    stream.wake()
    valve.is_open.set()
    await valve.until_sent(b"id: 2\n")
    valve.disconnected.set()
    await running
