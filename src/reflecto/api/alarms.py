"""Routes with which devices end what sounds. Source: devices.md "Keys and envelopes"."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.core.emergencies import Emergencies
from reflecto.core.rings import Rings


def alarm_routes(auth: Authenticator, rings: Rings, emergencies: Emergencies) -> list[Route]:
    """Return the routes of stopping rings and acknowledging emergencies."""

    async def stop_ring(call: Call) -> Reply:
        await rings.stop(await auth.device(call), call.path_params["id"])
        return Reply(204)

    async def acknowledge(call: Call) -> Reply:
        await emergencies.acknowledge(await auth.device(call), call.path_params["receipt"])
        return Reply(204)

    return [
        Route("/v1/rings/{id}/stop", Endpoint(POST=stop_ring)),
        Route("/v1/emergencies/{receipt}/acknowledge", Endpoint(POST=acknowledge)),
    ]
