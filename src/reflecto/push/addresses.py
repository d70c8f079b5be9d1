"""Connections to public addresses only: a subscription is an address that a device chose, which may mean harm.

The address that was checked is the one connected to: a name is resolved once, so that it cannot point elsewhere later.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final

import httpcore

from reflecto.core.public_addresses import is_public

Resolve = Callable[[str, int], Awaitable[list[str]]]

ADDRESSES_TRIED: Final = 4  # of one name
CONNECT_SECONDS: Final = 3.0  # for each: IPv6 that leads nowhere must leave time for IPv4


class ForbiddenAddressError(Exception):
    """The host has no address that may be connected to."""


async def resolve(host: str, port: int) -> list[str]:
    """Return the host's addresses, in the order they should be tried. Raises: OSError, UnicodeError.

    In a thread of its own: a resolver that hangs must neither occupy the loop's threads nor hold up the server's stop.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()

    def look_up() -> None:
        addresses: list[str] = []
        error: OSError | UnicodeError | None = None
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
            addresses = list(dict.fromkeys(str(address[0]) for *_, address in entries))
        except (OSError, UnicodeError) as caught:
            error = caught
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, addresses, error)

    def tell(addresses: list[str], error: OSError | UnicodeError | None) -> None:
        if not found.done():
            found.set_exception(error) if error else found.set_result(addresses)

    threading.Thread(target=look_up, name="push-resolver", daemon=True).start()
    return await found


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
