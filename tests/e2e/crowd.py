"""Many open connections at once: streams and long polls, held by bare sockets so that a thousand cost little."""

import asyncio
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.phones import WAIT_SECONDS, Phone, make_codes
from tests.e2e.server_process import ServerProcess

DEVICES_PER_OWNER: Final = 32
STREAMS_PER_DEVICE: Final = 4
FILES_BESIDE: Final = 200  # what this process needs open for other things
CONNECTING_AT_ONCE: Final = 64


@dataclass(frozen=True)
class Held:
    """One request whose reply has begun, or not (a long poll), and has not ended."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    begun: bytes

    async def read_to_end(self) -> bytes:
        """Return all of the reply, once the server has closed the connection."""
        try:
            return self.begun + await self.reader.read()
        finally:
            self.writer.close()


def allow_open_files(count: int) -> None:
    """Let this process have `count` connections beside what it needs anyway."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + FILES_BESIDE
    if resource.RLIM_INFINITY not in {soft, hard} and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


def enrol_many(server: ServerProcess, data: Path, count: int, store: str | None = None) -> list[Phone]:
    """Enrol `count` phones, as many of one owner as there may be. The store is new."""
    phones: list[Phone] = []
    while len(phones) < count:
        (founding,) = make_codes(data, 1, new_owner=True, store=store)
        first = Phone.enrol(server.url, founding)
        joining = make_codes(
            data, min(DEVICES_PER_OWNER, count - len(phones)) - 1, owner_id=first.owner_id, store=store
        )
        phones += [first, *(Phone.enrol(server.url, code) for code in joining)]
    return phones


async def open_streams(port: int, device_tokens: Sequence[str]) -> list[Held]:
    """Open one sync stream per token, each sent its first bytes."""
    return await _open_all(port, [("/v1/sync", token) for token in device_tokens], begun=True)


async def open_polls(port: int, token: str, interaction_id: str, count: int) -> list[Held]:
    """Open long polls on one question; nothing of their replies has come yet."""
    return await _open_all(port, [(f"/v1/interactions/{interaction_id}?wait=60", token)] * count, begun=False)


async def _open_all(port: int, requests: list[tuple[str, str]], *, begun: bool) -> list[Held]:
    allow_open_files(len(requests))
    turns = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def open_one(target: str, token: str) -> Held:
        async with turns:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n") if begun else b""
        assert not begun or head.startswith(b"HTTP/1.1 200 "), head
        return Held(reader, writer, head)

    async with asyncio.timeout(WAIT_SECONDS):
        return await asyncio.gather(*(open_one(*request) for request in requests))
