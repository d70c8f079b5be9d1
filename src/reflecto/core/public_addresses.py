"""Which IP addresses are of the public internet."""

import ipaddress
from typing import Final

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# RFC 6052: a network with IPv6 only reaches IPv4 hosts under these, private ones too.
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
# Not of the public internet, although not every version of `ipaddress` says so: local NAT64, IPv4-compatible
# and site-local addresses.
_NOT_PUBLIC: Final = tuple(map(ipaddress.IPv6Network, ("64:ff9b:1::/48", "::/96", "fec0::/10")))


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
