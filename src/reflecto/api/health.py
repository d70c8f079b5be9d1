"""Is the server up, and can it store anything?"""

import asyncio
from typing import Final

from starlette.routing import Route

from reflecto.api.forwarded import UNTRUSTED_PROXY
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.bundle import bundle_state
from reflecto.core.clock import Clock
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.version import version

PROBE_SECONDS: Final = 1  # anybody may ask, and each probe waits for the disk


class Readiness:
    """Whether something new can be stored, found out at most once a second for everybody who asks."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._probing = asyncio.Lock()
        self._known_until = 0.0
        self._trouble: StoreUnavailableError | None = None

    async def check(self) -> None:
        """Raises: StoreUnavailableError."""
        async with self._probing:
            if self._clock.now() >= self._known_until:
                self._trouble = None
                try:
                    await self._store.probe()
                except StoreUnavailableError as error:
                    self._trouble = error
                self._known_until = self._clock.now() + PROBE_SECONDS
            if self._trouble is not None:
                raise StoreUnavailableError(str(self._trouble))


def health_routes(store: Store, clock: Clock) -> list[Route]:
    """Return /healthz (the process answers) and /readyz (something new can be stored)."""
    health = {"status": "ok", "version": version(), "app": bundle_state()}
    readiness = Readiness(store, clock)

    async def healthz(call: Call) -> Reply:
        if call.scope.get(UNTRUSTED_PROXY):  # for `reflecto doctor`, which came through it
            return Reply(200, health | {"proxy": "not_trusted"})
        return Reply(200, health)

    async def readyz(_call: Call) -> Reply:
        await readiness.check()
        return Reply(200, {"status": "ready"})

    return [Route("/healthz", Endpoint(GET=healthz)), Route("/readyz", Endpoint(GET=readyz))]
