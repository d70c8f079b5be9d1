"""One request at a time over the standard library's HTTP/1.1; what came of it is data. It decides nothing.

httpx would be less code, but importing it and making a client takes longer than all else that a command does together
(bench/cold_start.py). The asynchronous client, which no command starts with, uses it.
"""

import http.client
import io
import select
import threading
import time
import urllib.parse
from collections.abc import Callable
from functools import partial
from typing import Any

from reflecto.client.errors import Unreachable
from reflecto.client.flows import Outcome
from reflecto.client.network_settings import find_proxy, is_tls_refusal, make_tls_context
from reflecto.client.protocol import REQUEST_TIMEOUT_SECONDS, HttpReply, HttpRequest, base_url, common_headers

_Connection = http.client.HTTPConnection
_READ_BYTES = 65_536


class Network:
    """Carries requests to one server with one token, for any number of threads. `clock` is monotonic seconds.

    A connection has to come about within `connect_seconds`, TLS included; each address of the host gets so long.

    Raises: InvalidSettings.
    """

    def __init__(
        self, url: str, token: str, clock: Callable[[], float], connect_seconds: float = REQUEST_TIMEOUT_SECONDS
    ) -> None:
        self._connect_seconds = connect_seconds
        self.url = base_url(url)
        self._clock = clock
        self._headers = common_headers(token)
        parts = urllib.parse.urlsplit(self.url)
        self._is_secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (443 if self._is_secure else 80)
        self._proxy = find_proxy(parts.scheme, self._host)
        self._context = make_tls_context() if self._is_secure else None
        # A proxy for plain HTTP wants to know the whole address.
        self._prefix = self.url if self._proxy and not self._is_secure else parts.path
        if self._proxy and not self._is_secure:
            self._headers |= self._proxy.headers
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def perform(self, request: HttpRequest) -> Outcome:
        """Send the request and return its reply or failure."""
        connection, connected = self._take() or self._new_connection(), False
        try:
            connection.timeout = min(request.timeout_seconds, self._connect_seconds)
            if connection.sock is None:
                connection.connect()
            connected = True
            reply = self._exchange(connection, request)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            connection.close()
            return Outcome(self._clock(), failure=unreachable(self.url, error, may_have_arrived=connected))
        except BaseException:  # interrupted: half a reply must not be taken for the next one's
            connection.close()
            raise
        return Outcome(self._clock(), reply)

    def _exchange(self, connection: _Connection, request: HttpRequest) -> HttpReply:
        headers = self._headers | request.headers
        connection.sock.settimeout(request.timeout_seconds)
        connection.request(request.method, self._prefix + request.path, request.body, headers)
        until = time.monotonic() + request.timeout_seconds
        connection.response_class = partial(_Response, until=until)  # type: ignore[assignment]  # whatever makes one will do
        with connection.getresponse() as response:
            body = _read_bounded(response, request.reply_max_bytes)
            is_whole = response.isclosed()
        if is_whole and not response.will_close:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        return HttpReply(response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def _take(self) -> _Connection | None:
        """Return a connection that is still good: a server that ended one in the meantime has said so."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not _is_readable(connection.sock):
                    return connection
                connection.close()
        return None

    def _new_connection(self) -> _Connection:
        host, port = (self._proxy.host, self._proxy.port) if self._proxy else (self._host, self._port)
        if not self._is_secure:
            return http.client.HTTPConnection(host, port)
        connection = http.client.HTTPSConnection(host, port, context=self._context)
        if self._proxy:
            connection.set_tunnel(self._host, self._port, self._proxy.headers)
        return connection


class _Response(http.client.HTTPResponse):
    """A response that has until `until` (monotonic seconds) as a whole, however slowly it comes."""

    def __init__(self, sock: Any, *arguments: Any, until: float, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self._timed = _Timed(self.fp.detach(), sock, until)
        self.fp: Any = io.BufferedReader(self._timed)

    def begin(self) -> None:
        super().begin()
        if self._timed.has_ended:  # within the head, which the standard library takes for its end
            raise http.client.IncompleteRead(b"")


class _Timed(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: Any, until: float) -> None:
        self.has_ended = False
        self._raw = raw
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        count = self._raw.readinto(buffer)
        self.has_ended = count == 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def unreachable(url: str, error: Exception, *, may_have_arrived: bool) -> Unreachable:
    """Return why there is no reply, and whether a second try could mend it."""
    return Unreachable(
        f"cannot reach {url}: {str(error) or type(error).__name__}",
        may_have_arrived=may_have_arrived,
        passing=not isinstance(error, UnicodeError) and not is_tls_refusal(error),  # a host name that cannot exist
    )


def _read_bounded(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    """Return the body, or its first bytes if it is longer than the contract allows."""
    body = bytearray()
    while len(body) <= max_bytes and (chunk := response.read(_READ_BYTES)):
        body += chunk
    if len(body) <= max_bytes and response.length:  # the standard library only says so where it reads all at once
        raise http.client.IncompleteRead(bytes(body), response.length)
    return bytes(body[:max_bytes])


def _is_readable(sock: Any) -> bool:
    if hasattr(select, "poll"):
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        return bool(poller.poll(0))
    return bool(select.select([sock], [], [], 0)[0])
