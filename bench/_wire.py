"""Bare-socket clients that cost next to nothing, so that what is measured is the server.

A request with httpx takes about as long as the server needs to answer it.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.e2e.phones import Phone, make_codes
from tests.e2e.server_process import ServerProcess

WAIT_SECONDS = 60
LIMITS_OFF = "[limit_overrides]\ntoken_burst = 100_000_000\nip_minute = 100_000_000\n"


def start_server(folder: Path, store: str | None = None) -> ServerProcess:
    """Start a server without request limits; its store is in `folder`, or at an address."""
    config = folder / "reflecto.toml"
    config.write_text(LIMITS_OFF, "utf-8")
    env = {} if store is None else {"REFLECTO_STORE": store}
    return ServerProcess(folder / "data", "--config", str(config), env=env)


def found_owner(server: ServerProcess) -> Phone:
    """Enrol the first phone of a new owner."""
    (code,) = make_codes(server.data, 1, new_owner=True)
    return Phone.enrol(server.url, code)


def request_bytes(method: str, path: str, token: str, body: object = None) -> bytes:
    """Return one request as it goes over the wire."""
    content = b"" if body is None else json.dumps(body).encode()
    head = [
        f"{method} {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {token}",
        f"Content-Length: {len(content)}",
        "\r\n",
    ]
    return "\r\n".join(head).encode() + content


class Wire:
    """One keep-alive connection for one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def send(self, request: bytes) -> None:
        """Send a request."""
        self._socket.sendall(request)

    def reply(self) -> tuple[int, bytes]:
        """Return status and body of the next reply."""
        head = self._take_until(b"\r\n\r\n")
        status = int(head[9:12])
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return status, self._take(int(length or 0))

    def status_of(self, request: bytes) -> int:
        """Send a request that may be refused before all of it is taken, and return the status of its reply, 0: none."""
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._socket.sendall(request)
            return int(self._take_until(b"\r\n")[9:12])
        except (EOFError, OSError):
            return 0

    def call(self, request: bytes, expected_status: int) -> bytes:
        """Send a request and return the body of its reply, which must have this status."""
        self.send(request)
        status, body = self.reply()
        assert status == expected_status, (status, body)
        return body

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the data of each event of a stream that was asked for."""
        head = self._take_until(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        while True:
            event = self._take_until(b"\n\n")
            _, found, data = event.partition(b"\ndata: ")
            if found:
                yield json.loads(data[: data.index(b"\n")])

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _take_until(self, mark: bytes) -> bytes:
        while mark not in self._received:
            self._receive()
        taken, _, self._received = self._received.partition(mark)
        return taken + mark

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            self._receive()
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _receive(self) -> None:
        chunk = self._socket.recv(65_536)
        if not chunk:
            raise EOFError("the server closed the connection")
        self._received += chunk
