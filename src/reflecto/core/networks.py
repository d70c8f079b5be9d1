"""What counts as one client: an IPv4 address, or the /64 that an IPv6 address is from."""

import ipaddress


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or an IPv6 /64."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, 64), strict=False))
    return str(parsed)
