"""The device side: enrolling, syncing, answering, and the owner's tokens. Source: devices.md, docs/protocol.md."""

from typing import Final

from reflecto.api.callers import DEVICE, whoever_has_a_code
from reflecto.api.operations.operation import (
    AS_DEVICE,
    SENDING_JSON,
    AnyOperation,
    Operation,
    Parameter,
    Success,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.devices import (
    AckRequest,
    DeviceState,
    EnrollRequest,
    EnrollResponse,
    InvitationResponse,
    PushKeyResponse,
    SyncPage,
    UpdateDeviceRequest,
)
from reflecto.contract.tokens import CreateTokenRequest, NewToken, TokenLabelList, TokenList

TAG: Final = "Devices"
_AFTER: Final = Parameter(
    name="after",
    place="query",
    description="The last number the device has; one the server cannot have issued counts as none",
    schema={"type": "string", "examples": ["7"]},
)
_LAST_EVENT_ID: Final = Parameter(
    name="Last-Event-ID", place="header", description="The same, as browsers send it", schema={"type": "string"}
)

DEVICES: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="POST",
        path="/v1/enroll",
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
        caller=whoever_has_a_code("The setup code lets a device in that has no token yet"),
        body=json_body(EnrollRequest),
        successes=(done(201, "The device is enrolled.", EnrollResponse),),
        errors=(errors.INVALID_CODE, errors.TOO_MANY_DEVICES, errors.RATE_LIMIT_EXCEEDED),
    ),
    Operation(
        method="POST",
        path="/v1/invitations",
        id="inviteDevice",
        tag=TAG,
        summary="Make a setup code for one more device",
        description="With a phone's token. The code works once and for 10 minutes.",
        curl=curl('-X POST "$REFLECTO_URL/v1/invitations"', AS_DEVICE),
        caller=DEVICE,
        successes=(done(201, "The code and its link.", InvitationResponse),),
        errors=(errors.SCOPE_DENIED,),
    ),
    Operation(
        method="PATCH",
        path="/v1/devices/self",
        id="updateDevice",
        tag=TAG,
        summary="Report label and app build",
        description="What is absent stays as it is.",
        curl=curl('-X PATCH "$REFLECTO_URL/v1/devices/self"', AS_DEVICE, SENDING_JSON, "-d '{\"app_build\": 42}'"),
        caller=DEVICE,
        body=json_body(UpdateDeviceRequest),
        successes=(done(200, "The device as it is now.", DeviceState),),
    ),
    Operation(
        method="DELETE",
        path="/v1/devices/self",
        id="leave",
        tag=TAG,
        summary="Unpair this device",
        description="Its keys, queue and token are gone at once; its streams end.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/devices/self"', AS_DEVICE),
        caller=DEVICE,
        successes=(done(204, "The device is gone."),),
        errors=(errors.NOT_FOUND,),
    ),
    Operation(
        method="DELETE",
        path="/v1/devices/{id}",
        id="removeDevice",
        tag=TAG,
        summary="Unpair a device",
        description="With a phone's token any device of the owner, with a desktop's only itself.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/devices/$DEVICE_ID"', AS_DEVICE),
        caller=DEVICE,
        parameters=(path_id("dev", "device"),),
        successes=(done(204, "The device is gone."),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/owner",
        id="disconnect",
        tag=TAG,
        summary="Delete the owner and everything of theirs",
        description="With a phone's token: devices, tokens, questions, reminders and queues.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/owner"', AS_DEVICE),
        caller=DEVICE,
        successes=(done(204, "Nothing of the owner is left."),),
        errors=(errors.SCOPE_DENIED,),
    ),
    Operation(
        method="GET",
        path="/v1/sync",
        id="sync",
        tag=TAG,
        summary="Receive what is sent, as it comes",
        description=(
            "Server-Sent Events: first the backlog, then what comes. Each event is a `SyncEntry` under its `seq`; "
            "a comment comes every 20 seconds."
        ),
        curl=curl('-N "$REFLECTO_URL/v1/sync"', AS_DEVICE),
        caller=DEVICE,
        parameters=(_AFTER, _LAST_EVENT_ID),
        successes=(Success(status=200, description="The stream.", content_type="text/event-stream"),),
    ),
    Operation(
        method="GET",
        path="/v1/sync/entries",
        id="readQueue",
        tag=TAG,
        summary="Read some of what waits",
        description="For a device that was woken and cannot keep a stream.",
        curl=curl('"$REFLECTO_URL/v1/sync/entries?after=0"', AS_DEVICE),
        caller=DEVICE,
        parameters=(_AFTER, _LAST_EVENT_ID),
        successes=(done(200, "The next entries.", SyncPage),),
    ),
    Operation(
        method="GET",
        path="/v1/push/key",
        id="readPushKey",
        tag=TAG,
        summary="Read the server's key for Web Push",
        description="What a browser needs to subscribe; the subscription is reported with `PATCH /v1/devices/self`.",
        curl=curl('"$REFLECTO_URL/v1/push/key"', AS_DEVICE),
        caller=DEVICE,
        successes=(done(200, "The key.", PushKeyResponse),),
    ),
    Operation(
        method="POST",
        path="/v1/sync/ack",
        id="acknowledge",
        tag=TAG,
        summary="Let the server drop what the device has",
        description="Everything up to and including `seq`.",
        curl=curl('"$REFLECTO_URL/v1/sync/ack"', AS_DEVICE, SENDING_JSON, "-d '{\"seq\": 0}'"),
        caller=DEVICE,
        body=json_body(AckRequest),
        successes=(done(204, "It is dropped."),),
    ),
)
TOKENS: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="GET",
        path="/v1/tokens",
        id="listTokens",
        tag=TAG,
        summary="List the owner's sender tokens",
        description="Never their plaintext. A desktop gets ids and labels only.",
        curl=curl('"$REFLECTO_URL/v1/tokens"', AS_DEVICE),
        caller=DEVICE,
        successes=(Success(status=200, description="The live tokens.", models=(TokenList, TokenLabelList)),),
    ),
    Operation(
        method="POST",
        path="/v1/tokens",
        id="createToken",
        tag=TAG,
        summary="Make a sender token",
        description="With a phone's token. The plaintext is in this reply and never again.",
        curl=curl('"$REFLECTO_URL/v1/tokens"', AS_DEVICE, SENDING_JSON, '-d \'{"label": "CI", "scopes": ["ask"]}\''),
        caller=DEVICE,
        body=json_body(CreateTokenRequest),
        successes=(done(201, "The token.", NewToken),),
        errors=(errors.SCOPE_DENIED, errors.TOO_MANY_TOKENS),
    ),
    Operation(
        method="DELETE",
        path="/v1/tokens/{id}",
        id="revokeToken",
        tag=TAG,
        summary="Revoke a sender token",
        description="With a phone's token. The very next request with it is refused, and what it asked is withdrawn.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/tokens/$TOKEN_ID"', AS_DEVICE),
        caller=DEVICE,
        parameters=(path_id("tok", "token"),),
        successes=(done(204, "It is revoked."),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND),
    ),
)
