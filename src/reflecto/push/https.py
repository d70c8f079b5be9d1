"""Connections to public addresses only: a subscription is an address that a device chose, which may mean harm.

The address that was checked is the one connected to: a name is resolved once, so that it cannot point elsewhere later.
`push.posting` imports this with the first post.
"""

import ssl
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import httpcore
import httpx

from reflecto.core.public_addresses import is_public
from reflecto.push.addresses import Resolve, resolve
from reflecto.push.failures import ForbiddenAddressError, UnreachableError, UnsendableError

ADDRESSES_TRIED: Final = 4  # of one name
CONNECT_SECONDS: Final = 3.0  # for each: IPv6 that leads nowhere must leave time for IPv4
CONNECTIONS_KEPT_SECONDS: Final = 60
REPLY_MAX_BYTES: Final = 4_096  # read of a reply's body, so that the connection can be used again


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's sockets, to public addresses only unless `allow_private`."""

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolve = resolve,
        sockets: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._sockets = sockets or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of `host` that may be and answers.

        Raises: ForbiddenAddressError; httpcore.ConnectError, httpcore.ConnectTimeout.
        """
        attempt_seconds = min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in await self._allowed_addresses(host, port):
            try:
                return await self._sockets.connect_tcp(address, port, attempt_seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _allowed_addresses(self, host: str, port: int) -> list[str]:
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from None
        allowed = [address for address in found if self._allow_private or is_public(address)]
        if found and not allowed:
            raise ForbiddenAddressError(host)
        return allowed[:ADDRESSES_TRIED]


class HttpsPool:
    """Open connections; `keeps_connections`: for CONNECTIONS_KEPT_SECONDS after the last reply."""

    def __init__(self, *, allow_private: bool, resolve: Resolve, keeps_connections: bool) -> None:
        self._keeps_connections = keeps_connections
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls_context(),
            network_backend=CheckedBackend(allow_private=allow_private, resolve=resolve),
            max_connections=None,  # as many as there are posts, which their callers bound
            max_keepalive_connections=None if keeps_connections else 0,
            keepalive_expiry=CONNECTIONS_KEPT_SECONDS,
        )

    async def post(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> tuple[int, str]:
        """Post and return what came back, as `posting.Poster.post`. Redirects are not followed: they lead anywhere."""
        try:
            async with self._pool.stream("POST", url, headers=list(headers), content=body) as response:
                if self._keeps_connections:
                    await _read_some(response)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            raise UnreachableError(type(error).__name__) from error
        except (ValueError, httpcore.UnsupportedProtocol) as error:  # what no check before has caught
            raise UnsendableError(type(error).__name__) from error
        retry_after = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"")
        return response.status, retry_after.decode("latin-1")

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


async def _read_some(response: httpcore.Response) -> None:
    read_bytes = 0
    async for chunk in response.aiter_stream():
        read_bytes += len(chunk)
        if read_bytes > REPLY_MAX_BYTES:
            break


@cache
def tls_context() -> ssl.SSLContext:
    """Return what push services' certificates are checked with, loaded once."""
    return httpx.create_ssl_context()
