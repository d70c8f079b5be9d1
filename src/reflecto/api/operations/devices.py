"""Enrolling, listing, changing and removing devices. Source: devices.md, docs/protocol.md."""

from __future__ import annotations

from functools import partial
from typing import Final

from reflecto.api.callers import DEVICE, EITHER, anyone_with_a_code
from reflecto.api.http import Reply
from reflecto.api.keyed import by_setup_code, by_token
from reflecto.api.operations.operation import (
    AS_DEVICE,
    AS_SENDER,
    SENDING_JSON,
    Admitted,
    Operation,
    Success,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.devices import (
    DeviceList,
    DeviceState,
    EnrollRequest,
    EnrollResponse,
    InvitationResponse,
    PeerList,
    UpdateDeviceRequest,
)
from reflecto.core.enrolment import Invitation
from reflecto.core.model import Device
from reflecto.core.sender import Sender

TAG: Final = "Devices"


async def enroll(call: Admitted[None, EnrollRequest]) -> Reply:
    """Redeem a setup code: 201 with the device's id and token."""
    enroll = partial(call.use_cases.enrolment.enroll, call.body, call.client_address)
    return await call.once(enroll, partial(Reply, 201))


async def invite(call: Admitted[Device, None]) -> Reply:
    """Make a setup code: 201 with the code and its link."""

    def replied(made: tuple[Invitation, str]) -> Reply:
        invitation, link = made
        return Reply(201, InvitationResponse(invitation.code, link, invitation.expires_at))

    return await call.once(partial(call.use_cases.enrolment.invite_for, call.caller), replied)


async def list_devices(call: Admitted[Sender | Device, None]) -> Reply:
    """List the owner's devices; only another device is told their keys."""
    devices = call.use_cases.devices
    if isinstance(call.caller, Device):
        return Reply(200, await devices.list_for_device(call.caller))
    return Reply(200, await devices.list_of_owner(call.caller.token.owner_id))


async def update_self(call: Admitted[Device, UpdateDeviceRequest]) -> Reply:
    """Change the label, build, features or push subscription that the device names: 200 with its state."""
    return Reply(200, await call.use_cases.devices.update(call.caller, call.body))


async def remove_self(call: Admitted[Device, None]) -> Reply:
    """Unpair the device that calls: 204."""
    await call.use_cases.devices.remove(call.caller, call.caller.id)
    return Reply(204)


async def remove_device(call: Admitted[Device, None]) -> Reply:
    """Unpair the device in the path: 204."""
    await call.use_cases.devices.remove(call.caller, call.path_params["id"])
    return Reply(204)


async def disconnect(call: Admitted[Device, None]) -> Reply:
    """Delete the owner with all devices, tokens and messages: 204."""
    await call.use_cases.devices.disconnect(call.caller)
    return Reply(204)


DEVICES: Final = (
    Operation(
        method="POST",
        path="/v1/enroll",
        caller=anyone_with_a_code("The setup code lets a device in that has no token yet"),
        handler=enroll,
        body=json_body(EnrollRequest),
        keyed_by=by_setup_code,
        id="enrollDevice",
        tag=TAG,
        summary="Enrol a device with a setup code",
        description="The code comes from `reflecto invite`, from the server's first start or from another phone.",
        curl=curl(
            '"$REFLECTO_URL/v1/enroll"',
            SENDING_JSON,
            "-d @- <<END\n"
            '{"code": "$CODE", "public_key": "$PUBLIC_KEY", "signing_key": "$SIGNING_KEY",\n'
            ' "label": "Pixel 9", "type": "android", "class": "phone"}\n'
            "END",
        ),
        successes=(done(201, "The device is enrolled.", EnrollResponse),),
        errors=(errors.INVALID_CODE, errors.TOO_MANY_DEVICES, errors.RATE_LIMIT_EXCEEDED),
    ),
    Operation(
        method="POST",
        path="/v1/invitations",
        caller=DEVICE,
        handler=invite,
        keyed_by=by_token,
        id="inviteDevice",
        tag=TAG,
        summary="Make a setup code for one more device",
        description="With a phone's token. The code works once and for 10 minutes.",
        curl=curl('-X POST "$REFLECTO_URL/v1/invitations"', AS_DEVICE),
        successes=(done(201, "The code and its link.", InvitationResponse),),
        errors=(errors.SCOPE_DENIED,),
    ),
    Operation(
        method="PATCH",
        path="/v1/devices/self",
        caller=DEVICE,
        handler=update_self,
        body=json_body(UpdateDeviceRequest),
        id="updateDevice",
        tag=TAG,
        summary="Report label and app build",
        description="What is absent stays as it is.",
        curl=curl('-X PATCH "$REFLECTO_URL/v1/devices/self"', AS_DEVICE, SENDING_JSON, "-d '{\"app_build\": 42}'"),
        successes=(done(200, "The device as it is now.", DeviceState),),
    ),
    Operation(
        method="DELETE",
        path="/v1/devices/self",
        caller=DEVICE,
        handler=remove_self,
        id="leave",
        tag=TAG,
        summary="Unpair this device",
        description="Its keys, queue and token are gone at once; its streams end.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/devices/self"', AS_DEVICE),
        successes=(done(204, "The device is gone."),),
        errors=(errors.NOT_FOUND,),
    ),
    Operation(
        method="DELETE",
        path="/v1/devices/{id}",
        caller=DEVICE,
        handler=remove_device,
        id="removeDevice",
        tag=TAG,
        summary="Unpair a device",
        description="With a phone's token any device of the owner, with a desktop's only itself.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/devices/$DEVICE_ID"', AS_DEVICE),
        parameters=(path_id("dev", "device"),),
        successes=(done(204, "The device is gone."),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/owner",
        caller=DEVICE,
        handler=disconnect,
        id="disconnect",
        tag=TAG,
        summary="Delete the owner and everything of theirs",
        description="With a phone's token: devices, tokens, questions, reminders and queues.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/owner"', AS_DEVICE),
        successes=(done(204, "Nothing of the owner is left."),),
        errors=(errors.SCOPE_DENIED,),
    ),
)
# Senders may list devices too: listed among their calls.
LISTING: Final = (
    Operation(
        method="GET",
        path="/v1/devices",
        caller=EITHER,
        handler=list_devices,
        id="listDevices",
        tag="Messages",
        summary="List the owner's devices",
        description="Their status; with a device token their public keys too.",
        curl=curl('"$REFLECTO_URL/v1/devices"', AS_SENDER),
        successes=(Success(status=200, description="The devices.", models=(DeviceList, PeerList)),),
    ),
)
