"""A loopback HTTP server that replies what a test says; it also notes what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def reply(status: int, body: object = None, *, content_type: str = "application/json", **headers: str) -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Reply", f"Content-Length: {len(raw)}", f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + raw


def refusal(status: int, code: str, details: dict[str, Any] | None = None, **headers: str) -> bytes:
    return reply(status, {"error": {"code": code, "message": "no", "details": details or {}}}, **headers)


def event(seq: int, blob: str, *, sender: str = "server", expires_at: int = 2**40) -> bytes:
    data = json.dumps({"seq": seq, "from": sender, "blob": blob, "expires_at": expires_at})
    return f"id: {seq}\nevent: message\ndata: {data}\n\n".encode()


@asynccontextmanager
async def scripted_server(handler: Handler) -> AsyncIterator[str]:
    """Serve until the context ends; gives the base URL."""
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            start, *lines = head.strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            method, path, _ = start.split(" ")
            await handler(Request(method, path, headers, body), writer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.close()
        for writer in writers:
            writer.close()
        for writer in writers:
            with suppress(ConnectionError):
                await writer.wait_closed()
