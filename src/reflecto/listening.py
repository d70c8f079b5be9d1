"""The socket that the server listens on, and those of its workers, which share one address."""

import errno
import socket
from collections.abc import Callable
from typing import Final

from reflecto.core.enrolment import Invitation

# Told once the server takes requests: its public URL, the one it listens on, and a first invitation where there is one.
Announce = Callable[[str, str, Invitation | None], None]

BACKLOG: Final = 2048
UNREAD_TIMEOUT_MS: Final = 60_000  # a peer that takes nothing for so long is dropped by the kernel
UNSENT_MAX_BYTES: Final = 131_072  # what the kernel may hold for a slow reader; by itself it would take 4 MB


class AddressError(Exception):
    """The server cannot listen where it was told to."""


def bind(host: str, port: int, setting: str = "--port") -> socket.socket:
    """Return a socket that listens there; `setting` is what an error says to change. Raises: AddressError."""
    return _listen(_bound(host, port, setting=setting), host, port)


def bind_shared(host: str, port: int, count: int) -> list[socket.socket]:
    """Return so many sockets that listen at one address: the kernel spreads new connections evenly over them.

    Raises: AddressError, also where another server has the address.
    """
    # Without this look a second server of this user would share the address, and nobody would notice.
    with _bound(host, port) as probe:
        port = probe.getsockname()[1]
    listeners: list[socket.socket] = []
    try:
        while len(listeners) < count:
            listeners.append(_listen(_bound(host, port, is_shared=True), host, port))
    except AddressError:
        for each in listeners:
            each.close()
        raise
    return listeners


def url_of(listener: socket.socket) -> str:
    """Return the address that it listens at."""
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104  compared, not bound
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _bound(host: str, port: int, *, is_shared: bool = False, setting: str = "--port") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNSENT_MAX_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_TIMEOUT_MS)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise _refused(host, port, error, setting) from None
    return listener


def _listen(listener: socket.socket, host: str, port: int) -> socket.socket:
    try:
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise _refused(host, port, error) from None
    return listener


def _refused(host: str, port: int, error: OSError, setting: str = "--port") -> AddressError:
    advice = f"; {setting} takes another one" if error.errno == errno.EADDRINUSE else ""
    return AddressError(f"cannot listen on {host} port {port}: {error.strerror}{advice}")
