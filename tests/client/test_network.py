"""The blocking client's way onto the wire: connections kept and dropped, slow and cut replies, proxies, authorities."""

import base64
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

import pytest

from reflecto.client.errors import InvalidSettings, Unreachable
from reflecto.client.network import Network
from reflecto.client.network_settings import find_proxy, make_tls_context
from reflecto.client.protocol import HttpReply, HttpRequest
from tests.cli.front import make_certificate
from tests.client.asker_server import TOKEN

WAIT_SECONDS = 20
Carry = Callable[[str], Network]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Mixed-Case: yes\r\n\r\n{}"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


Script = Callable[[socket.socket], object]


class Line:
    """A server that takes one connection after the other and follows a script with each."""

    def __init__(self, *scripts: Script | tuple[bytes, ...]) -> None:
        self.heads: list[bytes] = []
        self.ended = threading.Semaphore(0)
        self.scripts = scripts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(WAIT_SECONDS)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(WAIT_SECONDS)
        self._listener.close()

    def _serve(self) -> None:
        for script in self.scripts:
            connection, _ = self._listener.accept()
            connection.settimeout(WAIT_SECONDS)
            with connection, suppress(OSError):
                script(connection) if callable(script) else self.answer(connection, script)
            self.ended.release()

    def answer(self, connection: socket.socket, replies: tuple[bytes, ...]) -> None:
        for reply in replies:
            head = b""
            while b"\r\n\r\n" not in head:
                received = connection.recv(65_536)
                if not received:
                    return
                head += received
            self.heads.append(head)
            connection.sendall(reply)


@pytest.fixture
def carry() -> Iterator[Callable[[str], Network]]:
    """Networks that are closed at the end."""
    with ExitStack() as stack:

        def make(url: str) -> Network:
            network = Network(url, TOKEN, lambda: 0.0)
            stack.callback(network.close)
            return network

        yield make


def get(network: Network, seconds: float = 10.0, max_bytes: int = 10_000) -> HttpReply:
    request = HttpRequest("GET", "/v1/x", timeout_seconds=seconds, reply_max_bytes=max_bytes)
    return network.perform(request).expect_reply()


def test_a_connection_is_kept_for_the_next_request(carry: Carry):
    with Line((OK, OK)) as server:
        network = carry(server.url)
        replies = [get(network), get(network)]
    assert [(reply.status, reply.body, reply.headers["x-mixed-case"]) for reply in replies] == [(200, b"{}", "yes")] * 2
    assert len(server.heads) == 2
    assert server.heads[0].startswith(b"GET /v1/x HTTP/1.1\r\n")
    assert f"Authorization: Bearer {TOKEN}\r\n".encode() in server.heads[0]


def test_a_connection_that_the_server_has_ended_is_not_used_again(carry: Carry):
    with Line((OK,), (OK,)) as server:
        network = carry(server.url)
        get(network)
        assert server.ended.acquire(timeout=WAIT_SECONDS)
        assert get(network).status == 200


def test_a_reply_that_asks_to_close_is_obeyed(carry: Carry):
    closing = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with Line((closing, OK), (OK,)) as server:
        network = carry(server.url)
        get(network)
        get(network)
    assert len(server.heads) == 2


def test_threads_share_a_client_and_no_connection(carry: Carry):
    together = threading.Barrier(4, timeout=WAIT_SECONDS)

    def ask(_: int) -> bytes:
        together.wait()
        return get(network).body

    with Line(*[(OK,)] * 4) as server:
        network = carry(server.url)
        with ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(ask, range(4)))
        for _ in range(4 - len(server.heads)):  # those that found a kept connection
            socket.create_connection(server.url.removeprefix("http://").split(":")).close()  # type: ignore[arg-type]
    assert replies == [b"{}"] * 4


CUT = {
    "in the body": b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{",
    "in a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    "in the head": b"HTTP/1.1 200 OK\r\nContent-Len",
    "at once": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
}


@pytest.mark.parametrize("reply", CUT.values(), ids=CUT)
def test_a_reply_that_is_cut_is_no_reply_and_may_have_been_acted_on(carry: Carry, reply: bytes):
    with Line((reply,)) as server, pytest.raises(Unreachable) as caught:
        get(carry(server.url))
    assert caught.value.may_have_arrived
    assert caught.value.passing
    assert str(caught.value).startswith(f"cannot reach {server.url}: ")


def test_a_chunked_reply_is_read_whole(carry: Carry):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
    with Line((chunked,)) as server:
        assert get(carry(server.url)).body == b"{}"


def test_no_more_is_read_than_a_reply_may_have(carry: Carry):
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000
    with Line((endless,)) as server:
        assert get(carry(server.url), max_bytes=1000).body == b"x" * 1000


def test_a_reply_that_drips_is_given_up_when_its_time_is_over(carry: Carry):
    released = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        while not released.wait(0.05):
            try:
                connection.sendall(b"x")
            except OSError:
                return

    with Line(drip) as server:
        try:
            with pytest.raises(Unreachable, match="timed out"):
                get(carry(server.url), seconds=0.4)
        finally:
            released.set()


def test_nothing_was_sent_where_nobody_listens(carry: Carry):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable) as caught:
        get(carry(f"http://127.0.0.1:{port}"))
    assert not caught.value.may_have_arrived


def test_plain_http_goes_through_the_proxy_with_its_password(carry: Carry, monkeypatch: pytest.MonkeyPatch):
    with Line((OK,)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:sesame%21@"))
        assert get(carry("http://reflecto.example/api")).status == 200
    assert proxy.heads[0].startswith(b"GET http://reflecto.example/api/v1/x HTTP/1.1\r\nHost: reflecto.example\r\n")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:sesame!") in proxy.heads[0]


def test_https_is_tunnelled_and_the_proxy_never_sees_the_token(carry: Carry, monkeypatch: pytest.MonkeyPatch):
    refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    with Line((refusal,)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with pytest.raises(Unreachable, match="403") as caught:
            get(carry("https://reflecto.example"))
    assert not caught.value.may_have_arrived
    assert proxy.heads[0].startswith(b"CONNECT reflecto.example:443 HTTP/1.")
    assert TOKEN.encode() not in proxy.heads[0]


@pytest.mark.parametrize("exception", ["*", "example", "reflecto.example", "other.example,reflecto.example"])
def test_a_proxy_is_not_used_for_what_is_excepted(monkeypatch: pytest.MonkeyPatch, exception: str):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    assert find_proxy("https", "reflecto.example") is not None
    monkeypatch.setenv("NO_PROXY", exception)
    assert find_proxy("https", "reflecto.example") is None


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "https://proxy.example", "http://:99999"])
def test_a_proxy_that_cannot_be_used_is_a_wrong_setting(carry: Carry, monkeypatch: pytest.MonkeyPatch, proxy: str):
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(InvalidSettings, match="proxy"):
        carry("http://reflecto.example")


def test_authorities_that_cannot_be_read_are_a_wrong_setting(
    carry: Carry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    with pytest.raises(InvalidSettings, match="SSL_CERT_FILE"):
        carry("https://reflecto.example")
    carry("http://reflecto.example")  # which needs none


def test_certificates_and_names_are_always_checked():
    context = make_tls_context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_server_with_a_trusted_certificate_is_reached_and_another_is_not_tried_again(
    carry: Carry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    authority, context = make_certificate(tmp_path)
    trusted = Line()

    def over_tls(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            trusted.answer(encrypted, (OK, OK))

    trusted.scripts = (over_tls, over_tls)
    with trusted:
        url = trusted.url.replace("http", "https")
        with pytest.raises(Unreachable, match="certificate") as caught:
            get(carry(url))
        assert not caught.value.passing
        assert not caught.value.may_have_arrived
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        network = carry(url)
        assert [get(network).body, get(network).body] == [b"{}", b"{}"]
