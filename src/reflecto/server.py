"""The server process: a socket, uvicorn on it, and a stop that does not wait for streams."""

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import FrameType
from typing import Final, cast

import uvicorn

from reflecto.api.connection import Connection
from reflecto.api.connection_room import ConnectionRoom
from reflecto.bootstrap import Services, open_services
from reflecto.config import Settings
from reflecto.core.enrolment import PUBLIC_URL_FACT
from reflecto.core.events import SERVER_STARTED, SERVER_STOPPED
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.listening import Announce, bind, url_of
from reflecto.logs import configure_logging
from reflecto.version import version

OPEN_FILES_MAX: Final = 65_536
STOP_SECONDS: Final = 1  # for requests in flight; streams and long polls are told to end before it starts


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


async def serve(
    settings: Settings, announce: Announce, listener: socket.socket | None = None, *, invites: bool = True
) -> None:
    """Run until SIGTERM or SIGINT, on `listener` or on a socket of its own.

    `announce` gets the public URL, the one it listens on, and an invitation if it `invites` and the store has no owner.
    Raises: AddressError; what `open_services` raises.
    """
    configure_logging(settings.log_level, settings.log_format)
    open_files_max = _raise_open_files_limit()
    room = ConnectionRoom(open_files_max) if open_files_max else None
    with ExitStack() as stack:
        listeners = [stack.enter_context(listener or bind(settings.host, settings.port))]
        if settings.metrics_port is not None:
            listeners.append(stack.enter_context(bind(settings.host, settings.metrics_port, setting="metrics_port")))
        services = await open_services(settings, serves_at=url_of(listeners[0]))
        try:
            await _serve(services, settings, listeners, room, announce, invites=invites)
        finally:
            await services.store.close()


async def _serve(
    services: Services,
    settings: Settings,
    listeners: list[socket.socket],
    room: ConnectionRoom | None,
    announce: Announce,
    *,
    invites: bool,
) -> None:
    config = uvicorn.Config(
        services.create_app(settings.trusted_proxies, settings.public_path),
        http=cast("type[asyncio.Protocol]", partial(Connection, room=room)),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        proxy_headers=False,  # the app does it, for configured proxies only
    )
    server = _Server(config, services)
    listening = url_of(listeners[0])
    url = settings.public_url or listening
    try:
        # Above whatever was numbered before: a store restored from a backup would give numbers out a second time, and
        # a phone that had them already would resume behind them, and never show what they stand for now.
        await services.store.number_from(int(services.clock.now() * 1000))
        if await services.store.recall(PUBLIC_URL_FACT) != url:
            await services.store.remember(PUBLIC_URL_FACT, url)
    except StoreUnavailableError:  # the log has said so; phones must be able to acknowledge, which makes room
        if not await services.store.list_owners():
            raise
    is_first = invites and not await services.store.list_owners()
    invitation = await services.enrolment.invite() if is_first else None
    running = asyncio.create_task(server.serve(sockets=listeners))
    while not server.started and not running.done():
        await asyncio.sleep(0.001)
    if server.started:
        gc.freeze()  # what is there stays: to look through all of it for garbage held the loop for 30 ms
        SERVER_STARTED.log(version=version(), listening=listening, url=url)
        announce(url, listening, invitation)
    await running
    SERVER_STOPPED.log()


def run(settings: Settings, announce: Announce, listener: socket.socket | None = None, *, invites: bool = True) -> None:
    """Run `serve` on the fastest loop there is. Raises: as that."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(settings, announce, listener, invites=invites))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows has none
        return None
    return uvloop.new_event_loop


def _raise_open_files_limit() -> int | None:
    """Raise it, and return how many files may be open, None for any number.

    Each stream and long poll holds one open; the usual soft limit of 1024 would be theirs.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES_MAX if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES_MAX)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
