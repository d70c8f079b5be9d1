"""A sync stream read byte by byte, so that what is on the wire can be asserted."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from reflecto.contract.envelopes import Envelope
from reflecto.core.model import Delivery
from reflecto.core.ports.wakeups import News
from tests.actors import DeviceActor
from tests.fakes import BOUND_SECONDS
from tests.running import RunningServer


@dataclass(frozen=True, slots=True)
class Event:
    """One `message` event."""

    id: int
    data: dict[str, Any]

    @property
    def blob(self) -> bytes:
        """The wire blob."""
        return base64.b64decode(self.data["blob"], validate=True)


class SyncReader:
    """One open stream. Every wait is bounded."""

    def __init__(self, response: httpx.Response, device: DeviceActor) -> None:
        self.response = response
        self.device = device
        self._chunks = response.aiter_raw()
        self._buffer = b""

    async def frame(self) -> bytes | None:
        """Return the next frame without its closing blank line; None once the stream has ended in order."""
        async with asyncio.timeout(BOUND_SECONDS):
            while b"\n\n" not in self._buffer:
                try:
                    self._buffer += await anext(self._chunks)
                except StopAsyncIteration:
                    assert self._buffer == b"", "the stream ended within a frame"
                    return None
        frame, _, self._buffer = self._buffer.partition(b"\n\n")
        return frame

    async def event(self) -> Event:
        """Return the next event; comments on the way are skipped."""
        while (frame := await self.frame()) is not None:
            if frame.startswith(b":"):
                continue
            id_line, type_line, data_line = frame.split(b"\n")
            assert type_line == b"event: message"
            return Event(int(id_line.removeprefix(b"id: ")), json.loads(data_line.removeprefix(b"data: ")))
        raise AssertionError("the stream ended")

    async def events(self, count: int) -> list[Event]:
        """Return the next `count` events."""
        return [await self.event() for _ in range(count)]

    async def envelope(self) -> Envelope:
        """Return the next event's envelope, decrypted."""
        return self.device.open((await self.event()).blob)

    async def comment(self) -> None:
        """Take the next frame, which must be a comment."""
        frame = await self.frame()
        assert frame is not None, "the stream ended"
        assert frame.startswith(b":"), f"expected a comment, got {frame!r}"

    async def end(self) -> None:
        """Take what is left until the stream ends."""
        while await self.frame() is not None:
            pass


@asynccontextmanager
async def open_sync(
    device: DeviceActor, *, last_event_id: int | str | None = None, after: int | str | None = None
) -> AsyncIterator[SyncReader]:
    """Open the device's stream, behind `last_event_id` (header) or `after` (query)."""
    headers = {"authorization": f"Bearer {device.token}"}
    if last_event_id is not None:
        headers["last-event-id"] = str(last_event_id)
    query = {} if after is None else {"after": after}
    async with device.http.stream("GET", "/v1/sync", headers=headers, params=query) as response:
        assert response.status_code == 200
        yield SyncReader(response, device)


async def drain(device: DeviceActor, count: int, *, after: int = 0) -> list[Envelope]:
    """Open the stream, take `count` envelopes and close it."""
    async with open_sync(device, after=after) as stream:
        return [await stream.envelope() for _ in range(count)]


async def put(server: RunningServer, device: DeviceActor, *blobs: bytes) -> None:
    """Put blobs into the device's queue, for 72 hours, and wake its streams."""
    deliveries = [Delivery(device.id, blob, int(server.clock.now()) + 259_200) for blob in blobs]
    await server.services.store.append_to_queues(deliveries)
    server.services.hub.tell(News(device_ids=[device.id]))
