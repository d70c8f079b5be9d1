"""Puts the server together: the only module that knows every implementation."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.routing import Router
from starlette.types import ASGIApp

from reflecto.api.app import create_app
from reflecto.api.auth import Authenticator
from reflecto.api.devices import device_routes
from reflecto.api.health import health_routes
from reflecto.api.interactions import interaction_routes
from reflecto.api.sync import sync_routes
from reflecto.config import Settings
from reflecto.core.activity import FLUSH_SECONDS, Activity
from reflecto.core.clock import Clock, SystemClock
from reflecto.core.delivery import Sealer
from reflecto.core.devices import Devices
from reflecto.core.enrolment import Enrolment
from reflecto.core.interactions import Interactions
from reflecto.core.ports import Store, StoreUnavailableError
from reflecto.core.tokens import Tokens
from reflecto.crypto.envelopes import KEY_BYTES, BoxKeys
from reflecto.push.hub import Hub
from reflecto.store.sqlite.store import SqliteStore

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

    @classmethod
    def build(cls, store: Store, keys: BoxKeys, clock: Clock, min_phone_build: int | None) -> "Services":
        """Wire the use cases together."""
        hub = Hub(clock)
        sealer = Sealer(keys)
        activity = Activity(store)
        interactions = Interactions(store, hub, sealer, clock, min_phone_build)
        return cls(
            store=store,
            hub=hub,
            clock=clock,
            activity=activity,
            interactions=interactions,
            tokens=Tokens(store, interactions, activity, clock),
            devices=Devices(store, hub, activity, clock),
            enrolment=Enrolment(store, hub, sealer, clock),
        )

    def create_app(self) -> Router:
        """Return the ASGI app; its lifespan runs the heartbeat and the housekeeping and closes the store."""
        auth = Authenticator(self.tokens, self.devices)
        routes = [
            *interaction_routes(auth, self.interactions),
            *device_routes(auth, self.devices, self.enrolment, self.tokens),
            *sync_routes(auth, self.devices, self.hub),
            *health_routes(self.store, self.clock),
        ]
        return create_app(list(routes), self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: ASGIApp) -> AsyncIterator[None]:
        self.hub.start()
        housekeeping = asyncio.create_task(self._keep_house())
        try:
            yield
        finally:
            self.hub.close()
            housekeeping.cancel()
            await self.activity.flush()
            await self.store.close()

    async def _keep_house(self) -> None:
        never = asyncio.Event()
        while True:
            await self.clock.wait(never, self.clock.now() + FLUSH_SECONDS)
            await self.activity.flush()
            with suppress(StoreUnavailableError):  # logged by the store; the next round tries again
                await self.store.sweep(self.clock.now())


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
    return Services.build(store, keys, clock or SystemClock(), settings.min_phone_build)


async def _load_keys(path: Path, store: Store) -> BoxKeys:
    """Return the server's keys, made at first start; refuse others than those the devices were enrolled with."""
    known = await store.recall(_KEY_FACT)
    try:
        if known is None and not path.exists():
            _write_key_file(path, BoxKeys.generate().secret)
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except FileNotFoundError:
        raise DataFolderError(f"{path} is missing; the enrolled devices trust its key, restore it from a backup") from None
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
