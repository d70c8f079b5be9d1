"""Routes of pairing further devices and of what they send each other. Source: devices.md."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator, bearer_of
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.limits import RELAY_BODY_MAX_BYTES
from reflecto.contract.pairing import ApproveRequest, ClaimRequest, CreatePairingRequest, NonceRequest, RelayRequest
from reflecto.core.pairing import Pairings
from reflecto.core.relay import Relay


def pairing_routes(auth: Authenticator, pairings: Pairings) -> list[Route]:
    """Return the routes under /v1/pairings: those of the phone with its device token, those of the new device."""

    async def create(call: Call) -> Reply:
        phone = await auth.device(call)
        return Reply(201, await pairings.open(phone, await call.json(CreatePairingRequest)))

    async def read(call: Call) -> Reply:
        phone = await auth.device(call)
        return Reply(200, await pairings.read(phone, call.path_params["id"], call.wait_seconds(), call.query("was")))

    async def reject(call: Call) -> Reply:
        await pairings.reject(await auth.device(call), call.path_params["id"])
        return Reply(204)

    async def greet(call: Call) -> Reply:
        phone = await auth.device(call)
        await pairings.greet(phone, call.path_params["id"], await call.json(NonceRequest))
        return Reply(204)

    async def approve(call: Call) -> Reply:
        phone = await auth.device(call)
        await pairings.approve(phone, call.path_params["id"], await call.json(ApproveRequest))
        return Reply(204)

    async def claim(call: Call) -> Reply:
        request = await call.json(ClaimRequest)
        async with auth.telling_wrong_codes(call):
            return Reply(201, await pairings.claim(call.path_params["id"], request, call.client_address))

    async def outcome(call: Call) -> Reply:
        async with auth.counting_wrong_tokens(call):
            wait_seconds, was = call.wait_seconds(), call.query("was")
            return Reply(200, await pairings.outcome(bearer_of(call), call.path_params["id"], wait_seconds, was))

    async def reveal(call: Call) -> Reply:
        async with auth.counting_wrong_tokens(call):
            bearer = bearer_of(call)
            await pairings.reveal(bearer, call.path_params["id"], await call.json(NonceRequest))
            return Reply(204)

    return [
        Route("/v1/pairings", Endpoint(POST=create)),
        Route("/v1/pairings/{id}", Endpoint(GET=read, DELETE=reject)),
        Route("/v1/pairings/{id}/greet", Endpoint(POST=greet)),
        Route("/v1/pairings/{id}/approve", Endpoint(POST=approve)),
        Route("/v1/pairings/{id}/claim", Endpoint(POST=claim)),
        Route("/v1/pairings/{id}/outcome", Endpoint(GET=outcome)),
        Route("/v1/pairings/{id}/reveal", Endpoint(POST=reveal)),
    ]


def relay_routes(auth: Authenticator, relay: Relay) -> list[Route]:
    """Return the route of what devices send each other."""

    async def pass_on(call: Call) -> Reply:
        device = await auth.device(call)
        await relay.relay(device, await call.json(RelayRequest, RELAY_BODY_MAX_BYTES))
        return Reply(204)

    return [Route("/v1/relay", Endpoint(POST=pass_on))]
