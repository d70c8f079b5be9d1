"""Routes of enrolment, devices and tokens: the side only devices talk to. Source: devices.md."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.devices import EnrollRequest, UpdateDeviceRequest
from reflecto.contract.tokens import CreateTokenRequest
from reflecto.core.devices import Devices
from reflecto.core.enrolment import Enrolment
from reflecto.core.tokens import Tokens


def device_routes(auth: Authenticator, devices: Devices, enrolment: Enrolment, tokens: Tokens) -> list[Route]:
    """Return the routes of enrolling, listing, changing and leaving, and of sender tokens."""

    async def enroll(call: Call) -> Reply:
        return Reply(201, await enrolment.enroll(await call.json(EnrollRequest), call.client_address))

    async def list_devices(call: Call) -> Reply:
        return Reply(200, await devices.list_of_owner(await auth.owner_id(call)))

    async def update_self(call: Call) -> Reply:
        device = await auth.device(call)
        return Reply(200, await devices.update(device, await call.json(UpdateDeviceRequest)))

    async def remove_device(call: Call) -> Reply:
        await devices.remove(await auth.device(call), call.path_params["id"])
        return Reply(204)

    async def disconnect(call: Call) -> Reply:
        await devices.disconnect(await auth.device(call))
        return Reply(204)

    async def list_tokens(call: Call) -> Reply:
        return Reply(200, await tokens.list_for(await auth.device(call)))

    async def create_token(call: Call) -> Reply:
        device = await auth.device(call)
        return Reply(201, await tokens.create(device, await call.json(CreateTokenRequest)))

    async def revoke_token(call: Call) -> Reply:
        await tokens.revoke(await auth.device(call), call.path_params["id"])
        return Reply(204)

    async def remove_self(call: Call) -> Reply:
        device = await auth.device(call)
        await devices.remove(device, device.id)
        return Reply(204)

    return [
        Route("/v1/enroll", Endpoint(POST=enroll)),
        Route("/v1/devices", Endpoint(GET=list_devices)),
        Route("/v1/devices/self", Endpoint(PATCH=update_self, DELETE=remove_self)),
        Route("/v1/devices/{id}", Endpoint(DELETE=remove_device)),
        Route("/v1/owner", Endpoint(DELETE=disconnect)),
        Route("/v1/tokens", Endpoint(GET=list_tokens, POST=create_token)),
        Route("/v1/tokens/{id}", Endpoint(DELETE=revoke_token)),
    ]
