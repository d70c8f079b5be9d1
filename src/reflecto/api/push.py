"""Routes of Web Push. Source: devices.md "Push"."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.devices import PushKeyResponse


def push_routes(auth: Authenticator, public_key: str) -> list[Route]:
    """Return the route of the server's VAPID key; a subscription is reported with PATCH /v1/devices/self."""

    async def read_key(call: Call) -> Reply:
        await auth.device(call)
        return Reply(200, PushKeyResponse(public_key))

    return [Route("/v1/push/key", Endpoint(GET=read_key))]
