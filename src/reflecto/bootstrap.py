"""Puts the server together: the only module that knows every implementation."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from reflecto.api.app import create_app
from reflecto.api.auth import Authenticator
from reflecto.api.devices import device_routes
from reflecto.api.health import health_routes
from reflecto.api.interactions import interaction_routes
from reflecto.api.limits import Gate
from reflecto.api.messages import message_routes
from reflecto.api.pushover import pushover_routes
from reflecto.api.reference import reference_routes
from reflecto.api.sync import sync_routes
from reflecto.api.tokens import token_routes
from reflecto.api.webapp import webapp_routes
from reflecto.config import Settings
from reflecto.core.activity import FLUSH_SECONDS, Activity
from reflecto.core.clock import Clock, SystemClock
from reflecto.core.delivery import Dispatcher
from reflecto.core.devices import Devices
from reflecto.core.documents import Documents
from reflecto.core.enrolment import Enrolment
from reflecto.core.interactions import Interactions
from reflecto.core.messages import Messages
from reflecto.core.ports import Store, StoreUnavailableError
from reflecto.core.quotas import PROFILES, LimitProfile, Quotas
from reflecto.core.reminders import Reminders
from reflecto.core.rings import Rings
from reflecto.core.sealing import Sealer
from reflecto.core.tokens import Tokens
from reflecto.crypto.envelopes import KEY_BYTES, BoxKeys
from reflecto.push.hub import Hub
from reflecto.store.sqlite.store import SqliteStore

REMINDER_CHECK_SECONDS: Final = 1
KEY_FILE_NAME: Final = "server.key"
_KEY_FACT: Final = "server_public_key"


class DataFolderError(Exception):
    """The data folder cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases of one server on one store."""

    store: Store
    hub: Hub
    clock: Clock
    activity: Activity
    interactions: Interactions
    tokens: Tokens
    devices: Devices
    enrolment: Enrolment
    quotas: Quotas
    messages: Messages
    documents: Documents
    rings: Rings
    reminders: Reminders

    @classmethod
    def build(
        cls,
        store: Store,
        keys: BoxKeys,
        clock: Clock,
        min_phone_build: int | None = None,
        limits: LimitProfile = PROFILES["self-hosted"],
    ) -> "Services":
        """Wire the use cases together."""
        hub = Hub(clock)
        sealer = Sealer(keys)
        activity = Activity(store)
        quotas = Quotas(limits, clock)
        dispatcher = Dispatcher(store, hub, sealer)
        interactions = Interactions(store, hub, sealer, quotas, clock, min_phone_build)
        return cls(
            store=store,
            hub=hub,
            clock=clock,
            activity=activity,
            interactions=interactions,
            tokens=Tokens(store, interactions, activity, clock),
            devices=Devices(store, hub, activity, clock),
            enrolment=Enrolment(store, hub, sealer, clock),
            quotas=quotas,
            messages=Messages(dispatcher, hub, quotas, clock),
            documents=Documents(dispatcher, quotas, clock),
            rings=Rings(dispatcher, quotas, clock),
            reminders=Reminders(store, dispatcher, hub, sealer, quotas, clock),
        )

    def create_app(self, trusted_proxies: Sequence[str] = ()) -> ASGIApp:
        """Return the ASGI app; its lifespan runs the heartbeat and the housekeeping and closes the store.

        Behind `trusted_proxies` (addresses or networks) the client is who the nearest untrusted hop says it is.
        """
        auth = Authenticator(self.tokens, self.devices, self.quotas)
        gate = Gate(auth, self.quotas)
        routes = [
            *interaction_routes(gate, self.interactions),
            *message_routes(gate, self.messages, self.documents, self.rings, self.reminders),
            *pushover_routes(gate, self.messages, self.devices),
            *device_routes(auth, self.devices, self.enrolment),
            *token_routes(auth, self.tokens),
            *sync_routes(auth, self.devices, self.hub),
            *health_routes(self.store, self.clock),
            *reference_routes(self.store),
            *webapp_routes(),
        ]
        app = create_app(list(routes), self._lifespan)
        if not trusted_proxies:
            return app
        return cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(trusted_proxies)))

    @asynccontextmanager
    async def _lifespan(self, _app: ASGIApp) -> AsyncIterator[None]:
        self.hub.start()
        self.store.when_changed_elsewhere(self.hub.wake_all)
        await self.quotas.monthly.load(self.store, self.clock.now())
        chores = [
            asyncio.create_task(self._repeat(FLUSH_SECONDS, self._keep_house)),
            asyncio.create_task(self._repeat(REMINDER_CHECK_SECONDS, self.reminders.fire_due)),
        ]
        try:
            yield
        finally:
            self.hub.close()
            for chore in chores:
                chore.cancel()
            with suppress(StoreUnavailableError):
                await self._write_notes()
            await self.store.close()

    async def _repeat(self, seconds: float, chore: Callable[[], Awaitable[object]]) -> None:
        """Run `chore` now and every so often. A store that is down says so by itself; the next round tries again."""
        never = asyncio.Event()
        while True:
            with suppress(StoreUnavailableError):
                await chore()
            await self.clock.wait(never, self.clock.now() + seconds)

    async def _keep_house(self) -> None:
        await self._write_notes()
        await self.store.sweep(self.clock.now())

    async def _write_notes(self) -> None:
        await self.activity.flush()
        await self.quotas.monthly.flush(self.store, self.clock.now())


async def open_services(settings: Settings, clock: Clock | None = None) -> Services:
    """Open or create the data folder, its keys and its store.

    Raises: DataFolderError; StoreUnavailableError; NewerSchemaError.
    """
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataFolderError(f"cannot make the data folder {settings.data}: {error.strerror}") from None
    store = SqliteStore.open(settings.data)
    try:
        keys = await _load_keys(settings.data / KEY_FILE_NAME, store)
    except BaseException:
        await store.close()
        raise
    profile = msgspec.structs.replace(PROFILES[settings.limits], **settings.limit_overrides)
    return Services.build(store, keys, clock or SystemClock(), settings.min_phone_build, profile)


async def _load_keys(path: Path, store: Store) -> BoxKeys:
    """Return the server's keys, made at first start; refuse others than those the devices were enrolled with."""
    known = await store.recall(_KEY_FACT)
    try:
        if known is None and not path.exists():
            _write_key_file(path, BoxKeys.generate().secret)
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except FileNotFoundError:
        raise DataFolderError(
            f"{path} is missing; the enrolled devices trust its key, restore it from a backup"
        ) from None
    except (OSError, ValueError) as error:
        raise DataFolderError(f"cannot read {path}: {error}") from None
    if len(secret) != KEY_BYTES:
        raise DataFolderError(f"{path} is damaged; restore it from a backup")
    keys = BoxKeys.from_secret(secret)
    if known is None:
        await store.remember(_KEY_FACT, keys.public.hex())
    elif known != keys.public.hex():
        raise DataFolderError(f"{path} is not the key this store was made with; restore both from one backup")
    return keys


def _write_key_file(path: Path, secret: bytes) -> None:
    """Write the key durably; when two processes start at once, the first one's stays."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
