"""The server process: a socket, uvicorn on it, and a stop that does not wait for streams."""

import asyncio
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import uvicorn

from reflecto.bootstrap import Services, open_services
from reflecto.config import Settings
from reflecto.core.enrolment import Invitation
from reflecto.logs import configure_logging

BACKLOG: Final = 2048
UNREAD_TIMEOUT_MS: Final = 60_000  # a peer that takes nothing for so long is dropped by the kernel
STOP_SECONDS: Final = 1  # for requests in flight; streams and long polls are told to end before it starts
URL_FACT: Final = "public_url"

Announce = Callable[[str, Invitation | None], None]


class _Server(uvicorn.Server):
    """uvicorn, but the hub ends its streams before the wait for connections, and a signal is a clean exit."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._services.hub.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        with super().capture_signals():
            yield
            self._captured_signals.clear()  # uvicorn would raise them again, and the exit code would say "killed"


async def serve(settings: Settings, announce: Announce) -> None:
    """Run until SIGTERM or SIGINT. `announce` gets the public URL and, on a store without owners, an invitation.

    Raises: OSError when the address cannot be bound; what `open_services` raises.
    """
    configure_logging(settings.log_level)
    listener = _bind(settings.host, settings.port)
    services = await open_services(settings)
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
    url = settings.public_url or _url_of(listener)
    await services.store.remember(URL_FACT, url)
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
    except OSError:
        listener.close()
        raise
    return listener


def _url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104  compared, not bound
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
