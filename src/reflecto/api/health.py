"""Is the server up, and can it store anything?"""

from starlette.routing import Route

from reflecto.api.http import Call, Endpoint, Reply
from reflecto.bundle import bundle_state
from reflecto.core.clock import Clock
from reflecto.core.ports import Store
from reflecto.version import version


def health_routes(store: Store, clock: Clock) -> list[Route]:
    """Return /healthz (the process answers) and /readyz (a write reached the disk just now)."""
    health = {"status": "ok", "version": version(), "app": bundle_state()}

    async def healthz(_call: Call) -> Reply:
        return Reply(200, health)

    async def readyz(_call: Call) -> Reply:
        await store.remember("checked_at", str(int(clock.now())))
        return Reply(200, {"status": "ready"})

    return [Route("/healthz", Endpoint(GET=healthz)), Route("/readyz", Endpoint(GET=readyz))]
