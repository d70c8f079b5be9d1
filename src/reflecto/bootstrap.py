"""Puts the server together: the only module that knows every implementation."""

import asyncio
import ipaddress
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import msgspec
from starlette.routing import BaseRoute
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from reflecto.api.app import create_app
from reflecto.api.auth import Authenticator
from reflecto.api.forwarded import ForwardedWatch
from reflecto.api.gate import Gate
from reflecto.api.mcp import McpEndpoint
from reflecto.api.open_calls import OpenCalls
from reflecto.api.operations import OPERATIONS, UNDOCUMENTED
from reflecto.api.pushover_fields import PushoverReader
from reflecto.api.readiness import Readiness
from reflecto.api.reference import Reference
from reflecto.api.routes import routes_of
from reflecto.api.store_load import StoreLoadWatch
from reflecto.api.traffic import Traffic, TrafficWatch
from reflecto.api.use_cases import UseCases
from reflecto.api.watched import Watched
from reflecto.api.webapp import webapp_routes
from reflecto.backing import Backing, open_backing
from reflecto.bundle import bundle_state
from reflecto.config import Settings
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.devices import Devices
from reflecto.core.documents import Documents
from reflecto.core.emergencies import Emergencies
from reflecto.core.enrolment import Enrolment
from reflecto.core.events import Refusals
from reflecto.core.interactions import Interactions
from reflecto.core.last_seen import FLUSH_SECONDS, LastSeen
from reflecto.core.messages import Messages
from reflecto.core.pairing import Pairings
from reflecto.core.ports.presence import Presence
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.ports.wakeups import News
from reflecto.core.quotas import PROFILES, LimitProfile, Quotas
from reflecto.core.relay import Relay
from reflecto.core.reminders import Reminders
from reflecto.core.repeats import Repeats
from reflecto.core.rings import Rings
from reflecto.core.sealing import Sealer
from reflecto.core.tokens import Tokens
from reflecto.core.unread import Unread
from reflecto.crypto.envelopes import BoxKeys
from reflecto.crypto.webpush import VapidKeys
from reflecto.data_folder import (
    give_files_to_owner,
    make_files_private,
    make_folder,
    require_file,
)
from reflecto.push.addresses import Resolve, resolve
from reflecto.push.callbacks import HttpsCallbacks
from reflecto.push.sender import PushSender
from reflecto.push.vapid import LOCAL_CONTACT, Vapid, contact_for
from reflecto.push.webpush import WebPush
from reflecto.server_keys import load_keys
from reflecto.store.sqlite.database import DATABASE_NAME
from reflecto.version import version
from reflecto.wake.hub import Hub

EXPIRY_CHECK_SECONDS: Final = 11  # of questions, for the log alone; tests wait for rounder instants
DUE_CHECK_SECONDS: Final = 1


@dataclass(frozen=True, slots=True)
class PushOptions:
    """Whom push services see, and where pushes may go."""

    keys: VapidKeys
    contact: str = LOCAL_CONTACT
    allow_private: bool = False
    callback_allow_private: bool = False
    resolve: Resolve = resolve


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(UseCases):
    """The use cases of one server on one store, and what they stand on."""

    store: Store
    hub: Hub
    presence: Presence
    push: WebPush
    last_seen: LastSeen
    callbacks: HttpsCallbacks
    unread: Unread | None

    @classmethod
    def build(
        cls,
        backing: Backing,
        keys: BoxKeys,
        min_phone_build: int | None = None,
        limits: LimitProfile = PROFILES["self-hosted"],
        push: PushOptions | None = None,
    ) -> "Services":
        """Wire the use cases together."""
        store, presence, counters, clock = backing.store, backing.presence, backing.counters, backing.clock
        push = push or PushOptions(VapidKeys.generate())
        vapid = Vapid(push.keys, push.contact)
        push_sender = PushSender(vapid, clock, allow_private=push.allow_private, resolve=push.resolve)
        hub = Hub(clock, presence)
        hub.when_cancelled_elsewhere(backing.cancel_elsewhere)
        backing.when_lost(hub.end_streams)
        web_push = WebPush(store, backing.push_lines, presence, push_sender, clock)
        hub.when_grown(web_push.queues_grew)
        backing.when_gone(web_push.look_for_backlog)
        sealer = Sealer(keys)
        last_seen = LastSeen(store)
        quotas = Quotas(limits, counters, clock)
        dispatcher = Dispatcher(store, hub, sealer)
        callbacks = HttpsCallbacks(clock, allow_private=push.callback_allow_private, resolve=push.resolve)
        emergencies = Emergencies(store, dispatcher, hub, sealer, quotas, callbacks, clock)
        interactions = Interactions(store, hub, sealer, quotas, clock, min_phone_build)
        return cls(
            store=store,
            hub=hub,
            presence=presence,
            wakeups=hub,
            push=web_push,
            push_key=push.keys.public,
            clock=clock,
            last_seen=last_seen,
            interactions=interactions,
            tokens=Tokens(store, interactions, emergencies, last_seen, hub, sealer, clock),
            devices=Devices(store, hub, presence, last_seen, clock, allow_private_push=push.allow_private),
            enrolment=Enrolment(store, hub, sealer, counters, clock),
            pairings=Pairings(store, hub, sealer, counters, clock),
            relay=Relay(store, hub, counters, clock),
            quotas=quotas,
            messages=Messages(dispatcher, presence, quotas, clock),
            documents=Documents(dispatcher, quotas, clock),
            rings=Rings(store, dispatcher, hub, sealer, quotas, counters, clock),
            reminders=Reminders(store, dispatcher, hub, sealer, quotas, clock),
            emergencies=emergencies,
            repeats=Repeats(store, quotas, clock),
            callbacks=callbacks,
            callback_allow_private=push.callback_allow_private,
            pushover_reader=PushoverReader(),
            open_calls=OpenCalls(backing.call_places),
            mcp=McpEndpoint(hub, clock, hub.closed, backing.unread),
            unread=None if backing.unread is None else Unread(backing.unread, interactions, clock),
            health={"status": "ok", "version": version(), "app": bundle_state(), "repeats": IDEMPOTENCY_KEY_HEADER},
            readiness=Readiness(store, clock),
            reference=Reference(store, clock),
            watched=Watched(
                started_at=clock.now(),
                traffic=Traffic(),
                count_streams=hub.count_streams,
                count_waits=hub.count_waits,
                pushes=web_push.outcomes,
                work=store.work,
                load=StoreLoadWatch(store, clock),
            ),
        )

    def create_app(self, trusted_proxies: Sequence[str] = (), public_path: str = "") -> ASGIApp:
        """Return the ASGI app; its lifespan runs the heartbeat and the housekeeping and closes the store.

        Behind `trusted_proxies` (addresses or networks) the client is who the nearest untrusted hop says it is.
        `public_path` is that of the public URL, without a slash at its end: requests may come with or without it.
        """
        auth = Authenticator(self.tokens, self.devices, self.quotas, Refusals(self.clock))
        gate = Gate(auth, self.quotas)
        served = replace(self, reference=Reference(self.store, self.clock, public_path))
        routes: list[BaseRoute] = [*routes_of([*OPERATIONS, *UNDOCUMENTED], served, gate), *webapp_routes()]
        app = create_app(routes, self._lifespan, public_path)
        if not trusted_proxies:
            return TrafficWatch(ForwardedWatch(app, ()), self.watched.traffic)
        trusted = [*trusted_proxies, *_as_seen_by_ipv6(trusted_proxies)]
        behind = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=trusted))
        return TrafficWatch(ForwardedWatch(behind, trusted_proxies), self.watched.traffic)

    @asynccontextmanager
    async def _lifespan(self, _app: ASGIApp) -> AsyncIterator[None]:
        self.hub.start()
        self.store.when_changed_elsewhere(self._hear)
        await self.quotas.counters.start(self.clock.now())
        await self.interactions.tethers.spare_all()
        await self.push.start()
        chores = [
            asyncio.create_task(self._repeat(FLUSH_SECONDS, self._keep_house)),
            asyncio.create_task(self._repeat(EXPIRY_CHECK_SECONDS, self.interactions.settle_expired)),
            asyncio.create_task(
                self._repeat(
                    DUE_CHECK_SECONDS,
                    self.reminders.fire_due,
                    self.interactions.tethers.settle_due,
                    self.emergencies.sound_due,
                )
            ),
            asyncio.create_task(self._repeat(DUE_CHECK_SECONDS, self.emergencies.call_back_due)),
        ]
        if self.unread is not None:
            chores.append(asyncio.create_task(self._repeat(DUE_CHECK_SECONDS, self.unread.withdraw_due)))
        try:
            yield
        finally:
            self.hub.close()
            await self.mcp.close()
            for chore in chores:
                chore.cancel()
            await self.push.close()
            await self.callbacks.close()
            try:
                with suppress(StoreUnavailableError):
                    await self._write_notes()
            finally:
                await self.store.close()

    def _hear(self, news: News) -> None:
        """Let streams, waits and pushes know what another process has changed."""
        self.hub.hear(news)
        self.push.queues_grew_elsewhere(news.device_ids)

    async def _repeat(self, seconds: float, *chores: Callable[[], Awaitable[object]]) -> None:
        """Run `chores` now and every so often. A store that is down says so by itself; the next round tries again."""
        never = asyncio.Event()
        while True:
            for chore in chores:
                try:
                    await chore()
                except StoreUnavailableError:
                    pass
                except Exception:  # reminders must not stop coming until the next restart
                    logger.exception("a chore failed; the next round tries again")
            await self.clock.wait(never, self.clock.now() + seconds)

    async def _keep_house(self) -> None:
        await self._write_notes()
        while await self.store.sweep(self.clock.now()):
            pass  # requests come in between

    async def _write_notes(self) -> None:
        await self.last_seen.flush()
        await self.quotas.counters.flush(self.clock.now())


def _as_seen_by_ipv6(proxies: Sequence[str]) -> list[str]:
    """Return the IPv4 proxies once more, as a server that listens on `::` sees them."""
    networks = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
    return [
        f"::ffff:{network.network_address}/{96 + network.prefixlen}" for network in networks if network.version == 4
    ]


async def open_store(settings: Settings, *, is_server: bool = True) -> Store:
    """Open the data folder and the store; the server makes what is missing, other commands never.

    Raises: DataFolderError; StoreAddressError; StoreUnavailableError; NewerSchemaError.
    """
    return (await _open_backing(settings, is_server=is_server)).store


async def _open_backing(
    settings: Settings, clock: Clock | None = None, *, is_server: bool, serves_at: str = ""
) -> Backing:
    if is_server and (settings.store is None or settings.keys is None):  # otherwise nothing is kept there
        make_folder(settings.data)
    elif settings.store is None:
        require_file(settings.data / DATABASE_NAME)
    make_files_private(settings.data)
    return await open_backing(settings, clock, is_server=is_server, serves_at=serves_at)


async def open_services(
    settings: Settings, clock: Clock | None = None, *, is_server: bool = True, serves_at: str = ""
) -> Services:
    """Open store and keys; the server makes what is missing, other commands never.

    `serves_at` is the address that other processes of the server see of this one.
    Raises: ServerKeysError; what `open_store` raises.
    """
    backing = await _open_backing(settings, clock, is_server=is_server, serves_at=serves_at)
    store = backing.store
    try:
        keys = await load_keys(store, settings.data, settings.keys, is_shared=backing.is_shared)
        push = PushOptions(
            keys=keys.push,
            contact=settings.push_contact or contact_for(settings.public_url),
            allow_private=settings.push_allow_private,
            callback_allow_private=settings.callback_allow_private,
        )
        give_files_to_owner(settings.data)
    except BaseException:
        await store.close()
        raise
    profile = msgspec.structs.replace(PROFILES[settings.limits], **settings.limit_overrides)
    return Services.build(backing, keys.box, settings.min_phone_build, profile, push)
