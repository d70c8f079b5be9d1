"""A push service on loopback: it records each push and answers as the test says."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

from tests.fakes import BOUND_SECONDS
from tests.push.subscriber import Subscriber

CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"


def reply(status: int, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Held:
    """An answer that is given when the test says so."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.release = asyncio.Event()


@dataclass(frozen=True, slots=True)
class ReceivedPush:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def open(self, subscriber: Subscriber) -> dict[str, Any]:
        """Return the JSON inside."""
        opened: dict[str, Any] = json.loads(subscriber.decrypt(self.body))
        return opened


class PushServiceOnLoopback:
    """Takes pushes at `url`. What `answer_next` was not told to do is answered 201."""

    def __init__(self) -> None:
        self.url = ""
        self.accepted_connections = 0
        self.open_requests = 0
        self._received: asyncio.Queue[ReceivedPush] = asyncio.Queue()
        self._answers: list[bytes | Held | None] = []
        self._connections: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}

    @classmethod
    @asynccontextmanager
    async def run(cls, tls: ssl.SSLContext | None = None) -> AsyncIterator[Self]:
        """Serve until the block ends."""
        service = cls()
        server = await asyncio.start_server(service._serve, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        service.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        try:
            yield service
        finally:
            server.close()
            for writer in service._connections.values():
                writer.transport.abort()
            if service._connections:
                await asyncio.wait(service._connections, timeout=BOUND_SECONDS)

    def answer_next(self, *answers: bytes | Held | None) -> None:
        """Answer the next pushes with these; None takes the request and never answers."""
        self._answers.extend(answers)

    async def next(self) -> ReceivedPush:
        """Return the next push. Raises: TimeoutError."""
        async with asyncio.timeout(BOUND_SECONDS):
            return await self._received.get()

    @property
    def waiting(self) -> int:
        """How many pushes came that no test has taken."""
        return self._received.qsize()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted_connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._serve_one(reader, writer)
        writer.close()
        del self._connections[task]

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        answer = self._answers.pop(0) if self._answers else CREATED
        self.open_requests += 1
        self._received.put_nowait(ReceivedPush(method, path, headers, body))
        try:
            if answer is None:
                await reader.readexactly(1)  # until the other end gives up
            elif isinstance(answer, Held):
                await answer.release.wait()
                writer.write(answer.answer)
            else:
                writer.write(answer)
                await writer.drain()
        finally:
            self.open_requests -= 1
