"""Whatever a client sends, and however slowly, the server holds little of it and goes on serving others."""

import asyncio
import select
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from reflecto.api import connection
from reflecto.api.connection import Connection
from tests.e2e.phones import HTTP, WAIT_SECONDS, Phone, ask
from tests.e2e.server_process import ServerProcess

MIB = 1024 * 1024
FLOOD_BYTES = 64 * MIB
GROWTH_MAX_KIB = 8 * 1024  # by far less than what is sent
PIECE = b"x" * 65_536


def flood(port: int, opening: bytes, piece: bytes) -> tuple[int, bytes]:
    """Send `opening`, then `piece` again and again; return how many bytes went out and what came back.

    Ends when the server closes the connection or FLOOD_BYTES are sent.
    """
    sent, reply, pending = 0, b"", opening
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as client:
        client.setblocking(False)
        try:
            while sent < FLOOD_BYTES:
                readable, writable, _ = select.select([client], [client], [], WAIT_SECONDS)
                assert readable or writable, "the server neither takes the flood nor ends it"
                if readable:
                    received = client.recv(65_536)
                    if not received:
                        break
                    reply += received
                elif writable:
                    count = client.send(pending)
                    sent += count
                    pending = pending[count:] or piece
        except (ConnectionResetError, BrokenPipeError):
            with suppress(OSError):  # what came before the reset is still there to be read
                while received := client.recv(65_536):
                    reply += received
    return sent, reply


def head(line: str, *headers: str) -> bytes:
    """Return the beginning of a request."""
    return "\r\n".join([f"{line} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all of them: it must outlast each."""
    with ServerProcess(tmp_path_factory.mktemp("hostile") / "data") as server:
        yield server
        assert server.stop() == 0
        assert server.complaints == []


@pytest.fixture(scope="module")
def phone(server: ServerProcess) -> Phone:
    """The phone for all of them: what one has left must not trouble the next."""
    return Phone.of_new_owner(server)


@pytest.fixture(scope="module")
def memory_before_kib(server: ServerProcess, phone: Phone) -> int:
    """What the server needs for a normal question."""
    assert ask(server.url, phone.token, "Before?").status_code == 201
    return server.memory_kib()


@pytest.fixture
def unmoved(server: ServerProcess, phone: Phone, memory_before_kib: int) -> Iterator[None]:
    """Whatever the test does, the server's memory hardly grows and it goes on serving."""
    yield
    assert server.memory_kib(peak=True) - memory_before_kib < GROWTH_MAX_KIB
    assert ask(server.url, phone.token, "After?").status_code in {200, 201}


@pytest.mark.usefixtures("unmoved")
def test_an_endless_chunked_body_is_cut_off_with_413(server: ServerProcess, phone: Phone):
    opening = head("POST /v1/interactions", f"Authorization: Bearer {phone.token}", "Transfer-Encoding: chunked")

    sent, reply = flood(server.port, opening, b"10000\r\n" + PIECE + b"\r\n")

    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b'"payload_too_large"' in reply
    assert b"connection: close" in reply
    assert sent < FLOOD_BYTES


@pytest.mark.usefixtures("unmoved")
def test_an_endless_body_without_a_token_costs_nothing(server: ServerProcess):
    _, reply = flood(server.port, head("POST /v1/enroll", "Transfer-Encoding: chunked"), b"10000\r\n" + PIECE + b"\r\n")

    assert reply.startswith(b"HTTP/1.1 413 ")


@pytest.mark.usefixtures("unmoved")
def test_a_body_behind_a_refusal_is_not_kept(server: ServerProcess):
    opening = head("POST /v1/interactions", "Transfer-Encoding: chunked")

    _, reply = flood(server.port, opening, b"10000\r\n" + PIECE + b"\r\n")

    assert reply.startswith(b"HTTP/1.1 401 ")


@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize(
    ("path", "size", "max_bytes"),
    [
        ("interactions", 10**9, 327_680),
        ("interactions", 327_681, 327_680),
        ("reminders", 65_537, 65_536),
        ("interactions", 10**30, 327_680),
    ],
)
def test_an_announced_body_that_is_too_large_is_refused_before_it_is_sent(
    path: str, size: int, max_bytes: int, server: ServerProcess, phone: Phone
):
    opening = head(f"POST /v1/{path}", f"Authorization: Bearer {phone.token}", f"Content-Length: {size}")
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_SECONDS) as client:
        client.sendall(opening)
        reply = b""
        while not reply.endswith(b"}") and (received := client.recv(65_536)):  # it is closed some seconds later
            reply += received

    if size < 2**64:
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert b'"details":{"size":%d,"max":%d}' % (size, max_bytes) in reply
    else:  # no such length in HTTP
        assert reply.startswith(b"HTTP/1.1 400 ")


@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize(
    ("opening", "piece"),
    [
        (b"GET /v1/", PIECE),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ", PIECE),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"X-Short: y\r\n" * 5_000),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-", PIECE),
    ],
    ids=["target", "header value", "headers", "header name"],
)
def test_an_endless_head_is_cut_off(opening: bytes, piece: bytes, server: ServerProcess):
    sent, reply = flood(server.port, opening, piece)

    assert sent < FLOOD_BYTES
    assert reply.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))


@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize(
    ("more", "piece"),
    [(b"2\r\n{}\r\n0\r\nX-Trailer: ", PIECE), (b"2;extension=", PIECE), (b"", b"1\r\n \r\n" * 8_000)],
    ids=["trailer", "chunk extension", "tiny chunks"],
)
def test_endless_framing_of_a_body_is_cut_off(more: bytes, piece: bytes, server: ServerProcess, phone: Phone):
    opening = head("POST /v1/interactions", f"Authorization: Bearer {phone.token}", "Transfer-Encoding: chunked")

    sent, _ = flood(server.port, opening + more, piece)

    assert sent < FLOOD_BYTES


@pytest.mark.usefixtures("unmoved")
def test_hundreds_of_slow_requests_do_not_keep_others_waiting(server: ServerProcess, phone: Phone):
    slow_head = b"POST /v1/interactions HTTP/1.1\r\nHost: x\r\nX-Slow: "
    slow_body = head("POST /v1/interactions", f"Authorization: Bearer {phone.token}", "Content-Length: 100") + b"{"
    with ExitStack() as stack:
        for number in range(400):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            client.sendall(slow_body if number % 2 else slow_head)

        assert HTTP.get(f"{server.url}/readyz").status_code == 200


@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00" * 100, b"\x00" * 1_000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET\r\n\r\n"],
    ids=["TLS", "zeros", "HTTP/2", "no target"],
)
def test_what_is_not_http_is_dropped(garbage: bytes, server: ServerProcess):
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_SECONDS) as client:
        client.sendall(garbage)

        assert client.recv(65_536).startswith(b"HTTP/1.1 400 ")


async def talk(received: bytes, app: Callable[..., Awaitable[None]]) -> bytes:
    """Send `received` to a server in this process and return all it sends until it closes the connection."""
    config = Config(app, http=Connection, lifespan="off", timeout_keep_alive=0)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(config, ServerState(), {}), "127.0.0.1", 0
    )
    async with server, asyncio.timeout(WAIT_SECONDS):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(received)
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()


@pytest.mark.parametrize("received", [b"", b"\r\n", b"GET /", b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"])
def test_a_request_that_does_not_become_whole_in_time_is_dropped(received: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.01)

    async def read_body(_scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    assert asyncio.run(talk(received, read_body)) == b""


def test_a_request_that_is_whole_may_wait_for_its_reply(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.01)

    async def reply_late(_scope: Any, _receive: Any, send: Any) -> None:
        late = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, late.set)
        await late.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    assert asyncio.run(talk(b"GET / HTTP/1.1\r\n\r\n", reply_late)).startswith(b"HTTP/1.1 204 ")
