"""The server process: a socket, uvicorn on it, and a stop that does not wait for streams."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from reflecto.bootstrap import DataFolderError, Services, open_services
from reflecto.config import Settings
from reflecto.core.enrolment import PUBLIC_URL_FACT, Invitation
from reflecto.logs import configure_logging

BACKLOG: Final = 2048
UNREAD_TIMEOUT_MS: Final = 60_000  # a peer that takes nothing for so long is dropped by the kernel
OPEN_FILES_MAX: Final = 65_536
STOP_SECONDS: Final = 1  # for requests in flight; streams and long polls are told to end before it starts

Announce = Callable[[str, Invitation | None], None]


class AddressError(Exception):
    """The server cannot listen where it was told to."""


class _Server(uvicorn.Server):
    """uvicorn, but the hub ends its streams before the wait for connections, and a signal is a clean exit."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._services.hub.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  uvicorn's signature
        # uvicorn would raise the signal again in the end, and the exit code would say "killed"; and on a second
        # Ctrl-C it would drop everything, for a stop that takes a second at most.
        self.should_exit = True


async def serve(settings: Settings, announce: Announce) -> None:
    """Run until SIGTERM or SIGINT. `announce` gets the public URL and, on a store without owners, an invitation.

    Raises: AddressError; what `open_services` raises; DataFolderError if another server works in the folder.
    """
    configure_logging(settings.log_level)
    _raise_open_files_limit()
    with _bind(settings.host, settings.port) as listener:
        services = await open_services(settings)
        try:
            with _sole_use_of(settings.data):
                await _serve(services, listener, settings.public_url or _url_of(listener), announce)
        finally:
            await services.store.close()


async def _serve(services: Services, listener: socket.socket, url: str, announce: Announce) -> None:
    config = uvicorn.Config(
        services.create_app(),
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        proxy_headers=False,
    )
    server = _Server(config, services)
    await services.store.remember(PUBLIC_URL_FACT, url)
    invitation = None if await services.store.list_owners() else await services.enrolment.invite()
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not running.done():
        await asyncio.sleep(0.001)
    if server.started:
        announce(url, invitation)
    await running


def run(settings: Settings, announce: Announce) -> None:
    """Run the server on the fastest loop there is. Raises: as `serve`."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(settings, announce))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows has none
        return None
    return uvloop.new_event_loop


def _raise_open_files_limit() -> None:
    """Each stream and long poll holds a file open; the usual soft limit of 1024 would be theirs."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES_MAX if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES_MAX)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _sole_use_of(folder: Path) -> Iterator[None]:
    """Keep a second server off the folder: neither would hear of the questions and taps of the other.

    Raises: DataFolderError.
    """
    try:
        import fcntl
    except ImportError:  # Windows: a warning in the docs has to do
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataFolderError(f"the data folder {folder} is in use by another server") from None
        yield
    finally:
        os.close(descriptor)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_TIMEOUT_MS)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise AddressError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return listener


def _url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104  compared, not bound
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
