"""Whether a server is on this machine, where plain http:// cannot be overheard."""

import re
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Tell whether the URL's host is this machine: `localhost` and its names, 127.x.y.z, ::1."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # no URL at all
        return False
    return (
        host in {"localhost", "::1"} or host.endswith(".localhost") or re.fullmatch(r"127(\.\d+){3}", host) is not None
    )
