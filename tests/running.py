"""A real server on a loopback socket inside the test's event loop, on a fake clock."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import httpx
import uvicorn
from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp

from reflecto.api.connection import Connection
from reflecto.api.forwarded import ForwardedWatch
from reflecto.api.traffic import TrafficWatch
from reflecto.backing import backing_in_memory, open_postgres
from reflecto.bootstrap import PushOptions, Services
from reflecto.core.clock import StoreClock
from reflecto.core.ports.store import Store
from reflecto.core.quotas import PROFILES, LimitProfile
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.crypto.envelopes import BoxKeys
from reflecto.store.sqlite.store import SqliteStore
from tests.fakes import BOUND_SECONDS, FakeClock

SEND_BUFFER_BYTES: Final = 16_384  # of the server's sockets: a reader that stops is noticed after little
_NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading certificates for each client would take long


class InLoopServer(uvicorn.Server):
    """uvicorn as `reflecto.server` runs it, but told to stop instead of looking ten times a second."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Begin to shut down."""
        self._stopping.set()

    async def main_loop(self) -> None:
        """Serve until `stop`."""
        await self.on_tick(0)  # the date header, as in production
        await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams and waits, then whatever else is open."""
        self._services.hub.close()
        for server in self.servers:
            server.close()
        for each in sockets or []:
            each.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if self.server_state.tasks:
            _, late = await asyncio.wait(self.server_state.tasks, timeout=BOUND_SECONDS)
            assert not late, "a request outlived the server"
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await self.lifespan.shutdown()


class RunningServer:
    """One server: what it is made of, and clients of it."""

    def __init__(self, services: Services, clock: FakeClock, port: int, server: InLoopServer) -> None:
        self.services = services
        self.clock = clock
        self.port = port
        self.uvicorn = server
        self.stack = AsyncExitStack()
        self.http: httpx.AsyncClient

    async def client(self, address: str = "127.0.0.1") -> httpx.AsyncClient:
        """Return a client that calls from this loopback address; it is closed with the server."""
        transport = httpx.AsyncHTTPTransport(
            verify=_NO_TLS, local_address=address, limits=httpx.Limits(max_connections=None)
        )
        return await self.stack.enter_async_context(
            httpx.AsyncClient(
                transport=transport,
                base_url=f"http://127.0.0.1:{self.port}",
                timeout=BOUND_SECONDS,
                trust_env=False,
            )
        )

    def app_routes(self) -> Sequence[BaseRoute]:
        """Return the route table."""
        watched = cast("TrafficWatch", self.services.create_app())
        return cast("Router", cast("ForwardedWatch", watched.app).app).routes

    async def invite(self, **choice: Any) -> str:
        """Return a fresh setup code."""
        return (await self.services.enrolment.invite(**choice)).code


@asynccontextmanager
async def run_server(
    folder: Path,
    clock: FakeClock | None = None,
    *,
    database: str | None = None,
    store_clock: StoreClock | None = None,
    keys: BoxKeys | None = None,
    min_phone_build: int | None = None,
    limits: LimitProfile = PROFILES["self-hosted"],
    trusted_proxies: Sequence[str] = (),
    public_path: str = "",
    push: PushOptions | None = None,
    bounds: QueueLimits = QueueLimits(),  # noqa: B008  frozen
    wrap_store: Callable[[Store], Any] = lambda store: store,
    wrap_app: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> AsyncIterator[RunningServer]:
    """Serve the store in `folder`, or the PostgreSQL database at an address.

    `wrap_store` and `wrap_app` may put something in front of store and app. With a `store_clock` the time is the
    database's, and `clock` stands still.
    """
    clock = clock or FakeClock()
    if database is None:
        backing = backing_in_memory(wrap_store(SqliteStore.open(folder, bounds)), clock)
    else:
        backing = await open_postgres(database, None if store_clock else clock, bounds=bounds, store_clock=store_clock)
        backing = replace(backing, store=wrap_store(backing.store))
    services = Services.build(backing, keys or BoxKeys.generate(), min_phone_build, limits, push)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as in production: 40 ms less a reply
    listener.bind(("127.0.0.1", 0))
    listener.listen(256)
    config = uvicorn.Config(
        wrap_app(services.create_app(trusted_proxies, public_path)),
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # as in production: the app does it, for configured proxies only
    )
    uvicorn_server = InLoopServer(config, services)
    running = RunningServer(services, clock, listener.getsockname()[1], uvicorn_server)
    serving = asyncio.create_task(uvicorn_server.serve(sockets=[listener]))
    try:
        async with running.stack:
            running.http = await running.client()
            yield running
    finally:
        uvicorn_server.stop()
        await serving
