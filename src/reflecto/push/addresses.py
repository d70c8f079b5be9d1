"""Connections to public addresses only: whoever subscribes chooses where this server connects to.

The address that was checked is the one connected to: a name is resolved once, so that it cannot point elsewhere later.
"""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final

import httpcore

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

ADDRESSES_TRIED: Final = 4  # of one name
CONNECT_SECONDS: Final = 3.0  # for each: IPv6 that leads nowhere must leave time for IPv4
# RFC 6052: a network with IPv6 only reaches IPv4 hosts under these, private ones too.
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
# Not of the public internet, although not every version of `ipaddress` says so: local NAT64, IPv4-compatible
# and site-local addresses.
_NOT_PUBLIC: Final = tuple(map(ipaddress.IPv6Network, ("64:ff9b:1::/48", "::/96", "fec0::/10")))


class ForbiddenAddressError(Exception):
    """The host has no address that may be connected to."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet, also where it carries an IPv4 address inside."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(
        each.is_global and not each.is_multicast and not any(each in network for network in _NOT_PUBLIC)
        for each in _with_embedded(parsed)
    )


def _with_embedded(address: IPAddress) -> list[IPAddress]:
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)]
    return [address, *((address.sixtofour,) if address.sixtofour else ())]


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
