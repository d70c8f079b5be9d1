"""Connections to public addresses only: whoever subscribes chooses where this server connects to.

The address that was checked is the one connected to: a name is resolved once, so that it cannot point elsewhere later.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import httpcore

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

ADDRESSES_TRIED: Final = 4  # of one name
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
    """Return the host's addresses, in the order they should be tried. Raises: OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's sockets, to public addresses only unless `allow_private`."""

    def __init__(self, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._sockets = httpcore.AnyIOBackend()

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
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in await self._allowed_addresses(host, port):
            try:
                return await self._sockets.connect_tcp(address, port, timeout, local_address, socket_options)
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
