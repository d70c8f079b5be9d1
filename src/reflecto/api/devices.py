"""Routes of enrolment and devices. Source: devices.md."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator, is_device_token
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.devices import EnrollRequest, InvitationResponse, UpdateDeviceRequest
from reflecto.core.devices import Devices
from reflecto.core.enrolment import Enrolment


def device_routes(auth: Authenticator, devices: Devices, enrolment: Enrolment) -> list[Route]:
    """Return the routes of inviting, enrolling, listing, changing and leaving."""

    async def enroll(call: Call) -> Reply:
        request = await call.json(EnrollRequest)
        async with auth.telling_wrong_codes(call):
            return Reply(201, await enrolment.enroll(request, call.client_address))

    async def invite(call: Call) -> Reply:
        invitation, link = await enrolment.invite_for(await auth.device(call))
        return Reply(201, InvitationResponse(invitation.code, link, invitation.expires_at))

    async def list_devices(call: Call) -> Reply:
        if is_device_token(call):
            return Reply(200, await devices.list_for_device(await auth.device(call)))
        return Reply(200, await devices.list_of_owner((await auth.sender(call)).token.owner_id))

    async def update_self(call: Call) -> Reply:
        device = await auth.device(call)
        return Reply(200, await devices.update(device, await call.json(UpdateDeviceRequest)))

    async def remove_device(call: Call) -> Reply:
        await devices.remove(await auth.device(call), call.path_params["id"])
        return Reply(204)

    async def disconnect(call: Call) -> Reply:
        await devices.disconnect(await auth.device(call))
        return Reply(204)

    async def remove_self(call: Call) -> Reply:
        device = await auth.device(call)
        await devices.remove(device, device.id)
        return Reply(204)

    return [
        Route("/v1/enroll", Endpoint(POST=enroll)),
        Route("/v1/invitations", Endpoint(POST=invite)),
        Route("/v1/devices", Endpoint(GET=list_devices)),
        Route("/v1/devices/self", Endpoint(PATCH=update_self, DELETE=remove_self)),
        Route("/v1/devices/{id}", Endpoint(DELETE=remove_device)),
        Route("/v1/owner", Endpoint(DELETE=disconnect)),
    ]
