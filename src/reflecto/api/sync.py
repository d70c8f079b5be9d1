"""The sync stream. Source: devices.md "Sync".

An idle stream is one task that waits for the disconnect; a second one lives only while something is being sent.
What waits to be sent is not buffered here: it is read from the queue in the store, a page at a time.
"""

import asyncio
import logging
from typing import Final

import msgspec

from reflecto.api.http import Call
from reflecto.contract.api_error import ApiError
from reflecto.contract.sync import SyncEntry
from reflecto.core.devices import Devices
from reflecto.core.model import QueueEntry
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.crypto.encoding import encode_base64

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]
COMMENT: Final = b":\n\n"

logger = logging.getLogger(__name__)


class SyncStream:
    """One open event stream of a device: `core.ports.wakeups.Stream` over HTTP."""

    def __init__(self, call: Call, devices: Devices, device_id: str, after: int) -> None:
        self._call = call
        self._devices = devices
        self._device_id = device_id
        self._after = after  # the last sequence number sent
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._grown = True  # there may be entries behind `_after`
        self._silent = True  # nothing was sent since the last beat
        self._stuck = False  # the reader has taken nothing since the last beat
        self._ended = False

    async def run(self) -> None:
        """Send the backlog, then what comes, until the client leaves or `end` is called."""
        await self._call.send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        self._reader = asyncio.current_task()
        if not self._ended:
            self._start_writing()
            await self._wait_for_disconnect()
        self._reader = None
        if self._writer is not None:
            self._writer.cancel()
        if not self._stuck:  # else this would wait for the reader for ever
            await self._call.send({"type": "http.response.body", "body": b""})

    def wake(self) -> None:
        """Send the queue's entries behind the last one sent, in the background."""
        self._grown = True
        self._start_writing()

    def beat(self) -> None:
        """Send a comment if nothing else went out; end if what was sent before the last beat is still not taken."""
        if self._writer is None:
            self._silent = True
            self._start_writing()
        elif self._stuck:
            logger.info("stream of %s ended: its reader is too slow", self._device_id)
            self.end()
        else:
            self._stuck = True

    def end(self) -> None:
        """Close the stream; the client resumes from its cursor, or learns that it was revoked."""
        self._ended = True
        if self._reader is not None:
            self._reader.cancel()

    async def _wait_for_disconnect(self) -> None:
        try:
            while (await self._call.receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            if not self._ended:
                raise

    def _start_writing(self) -> None:
        if self._writer is None and self._reader is not None and not self._ended:
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._grown or self._silent:  # either may become true while something is being sent
                self._grown = False
                while page := await self._devices.read_queue(self._device_id, self._after):
                    await self._send(b"".join(event_of(entry) for entry in page))
                    self._after = page[-1].seq
                if self._silent:
                    await self._send(COMMENT)
        except (StoreUnavailableError, ApiError):  # it resumes later, or learns that it was revoked
            self.end()
        finally:
            self._writer = None

    async def _send(self, chunk: bytes) -> None:
        await self._call.send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._silent = self._stuck = False


def event_of(entry: QueueEntry) -> bytes:
    """Return the entry as a `message` event of Server-Sent Events, with `seq` as its id."""
    return b"id: %d\nevent: message\ndata: %b\n\n" % (entry.seq, msgspec.json.encode(entry_of(entry)))


def entry_of(entry: QueueEntry) -> SyncEntry:
    """Return the entry with its blob in base64."""
    return SyncEntry(entry.seq, entry.sender, encode_base64(entry.blob), entry.expires_at)
