"""Pairing further devices, and what devices send each other. Source: devices.md, docs/protocol.md."""

from __future__ import annotations

from functools import partial
from typing import Final

from reflecto.api.callers import CLAIMANT, DEVICE, anyone_with_a_code
from reflecto.api.http import Reply
from reflecto.api.keyed import by_pairing, by_token
from reflecto.api.operations.operation import (
    AS_DEVICE,
    SENDING_JSON,
    Admitted,
    Operation,
    Parameter,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.devices import ClaimRequest
from reflecto.contract.limits import RELAY_BODY_MAX_BYTES, WAIT_MAX_SECONDS
from reflecto.contract.pairing import (
    ApproveRequest,
    ClaimResponse,
    CreatePairingRequest,
    CreatePairingResponse,
    NonceRequest,
    OutcomeState,
    PairingState,
    RelayRequest,
)
from reflecto.core.model import Device

TAG: Final = "Devices"
_ID: Final = path_id("par", "invitation")
_WAIT: Final = Parameter(
    name="wait",
    place="query",
    description="How long to hold the reply while the status is still `was`, in seconds",
    schema={"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS, "default": 0},
)
_WAS: Final = Parameter(
    name="was",
    place="query",
    description="The status the caller knows",
    schema={"type": "string", "examples": ["open"]},
)
_URL: Final = '"$REFLECTO_URL/v1/pairings/$PAIRING_ID{}"'
_AS_CLAIMANT: Final = '-H "Authorization: Bearer $CLAIM_TOKEN"'
_NONCE: Final = '-d "{\\"nonce\\": \\"$NONCE\\"}"'


async def open_pairing(call: Admitted[Device, CreatePairingRequest]) -> Reply:
    """Open a pairing: 201 with its id."""
    return await call.once(partial(call.use_cases.pairings.open, call.caller, call.body), partial(Reply, 201))


async def read(call: Admitted[Device, None]) -> Reply:
    """Tell the phone how its invitation stands, or wait for its next step."""
    seconds, was = call.wait_seconds(), call.query("was")
    return Reply(200, await call.use_cases.pairings.read(call.caller, call.path_params["id"], seconds, was))


async def reject(call: Admitted[Device, None]) -> Reply:
    """Reject the pairing in the path: 204."""
    await call.use_cases.pairings.reject(call.caller, call.path_params["id"])
    return Reply(204)


async def claim(call: Admitted[None, ClaimRequest]) -> Reply:
    """Claim the pairing in the path for a new device: 201 with its claim token."""
    pairings, pairing_id = call.use_cases.pairings, call.path_params["id"]
    return await call.once(partial(pairings.claim, pairing_id, call.body, call.client_address), partial(Reply, 201))


async def read_outcome(call: Admitted[str, None]) -> Reply:
    """Tell the new device how the invitation stands, or wait for its next step."""
    seconds, was = call.wait_seconds(), call.query("was")
    return Reply(200, await call.use_cases.pairings.outcome(call.caller, call.path_params["id"], seconds, was))


async def greet(call: Admitted[Device, NonceRequest]) -> Reply:
    """Store the phone's nonce for the new device: 204."""
    await call.use_cases.pairings.greet(call.caller, call.path_params["id"], call.body)
    return Reply(204)


async def reveal(call: Admitted[str, NonceRequest]) -> Reply:
    """Store the nonce that the new device had committed itself to: 204."""
    await call.use_cases.pairings.reveal(call.caller, call.path_params["id"], call.body)
    return Reply(204)


async def approve(call: Admitted[Device, ApproveRequest]) -> Reply:
    """Store the phone's approval: 204, and the device is one of the owner's."""
    await call.use_cases.pairings.approve(call.caller, call.path_params["id"], call.body)
    return Reply(204)


async def relay(call: Admitted[Device, RelayRequest]) -> Reply:
    """Queue the blobs for the devices named: 204."""
    return await call.once(partial(call.use_cases.relay.relay, call.caller, call.body), partial(Reply, 204))


PAIRING: Final = (
    Operation(
        method="POST",
        path="/v1/pairings",
        caller=DEVICE,
        handler=open_pairing,
        body=json_body(CreatePairingRequest),
        keyed_by=by_token,
        id="createPairing",
        tag=TAG,
        summary="Invite one more device from a phone",
        description=(
            "The phone shows the id with a secret of its own, which never reaches the server: as a QR code, or as a "
            "code to type. The two devices then prove to each other what the server only passes on."
        ),
        curl=curl('"$REFLECTO_URL/v1/pairings"', AS_DEVICE, SENDING_JSON, "-d '{}'"),
        successes=(done(201, "The invitation is open.", CreatePairingResponse),),
        errors=(errors.SCOPE_DENIED, errors.PAIRING_CLOSED, errors.TOO_MANY_PAIRINGS),
    ),
    Operation(
        method="GET",
        path="/v1/pairings/{id}",
        caller=DEVICE,
        handler=read,
        id="getPairing",
        tag=TAG,
        summary="Read an invitation, or wait for its next step",
        description="With the token of the phone that made it.",
        curl=curl(_URL.format("?wait=50&was=open"), AS_DEVICE),
        parameters=(_ID, _WAIT, _WAS),
        successes=(done(200, "The invitation as it stands.", PairingState),),
        errors=(errors.INVALID_WAIT, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/pairings/{id}",
        caller=DEVICE,
        handler=reject,
        id="rejectPairing",
        tag=TAG,
        summary="Withdraw an invitation, or refuse the device",
        description="The device learns it. May be repeated.",
        curl=curl("-X DELETE " + _URL.format(""), AS_DEVICE),
        parameters=(_ID,),
        successes=(done(204, "Nobody joins with it."),),
        errors=(errors.NOT_FOUND, errors.PAIRING_CLOSED),
    ),
    Operation(
        method="POST",
        path="/v1/pairings/{id}/claim",
        caller=anyone_with_a_code("The new device knows the id that the phone shows, and has no token yet"),
        handler=claim,
        body=json_body(ClaimRequest),
        keyed_by=by_pairing,
        id="claimPairing",
        tag=TAG,
        summary="Ask to join",
        description="The new device calls this, with its keys and a proof that it saw what the phone shows.",
        curl=curl(
            _URL.format("/claim"),
            SENDING_JSON,
            "-d @- <<END\n"
            '{"public_key": "$PUBLIC_KEY", "signing_key": "$SIGNING_KEY", "proof": "$PROOF",\n'
            ' "label": "Firefox", "type": "web", "class": "desktop"}\n'
            "END",
        ),
        parameters=(_ID,),
        successes=(done(201, "The phone sees the device and its proof.", ClaimResponse),),
        errors=(errors.NOT_FOUND, errors.PAIRING_CLOSED, errors.RATE_LIMIT_EXCEEDED),
    ),
    Operation(
        method="GET",
        path="/v1/pairings/{id}/outcome",
        caller=CLAIMANT,
        handler=read_outcome,
        id="getPairingOutcome",
        tag=TAG,
        summary="Learn what became of the wish to join, or wait for it",
        description="With the `claim_token`, which becomes the device token once the phone has approved.",
        curl=curl(_URL.format("/outcome"), _AS_CLAIMANT),
        parameters=(_ID, _WAIT, _WAS),
        successes=(done(200, "The invitation as the new device sees it.", OutcomeState),),
        errors=(errors.INVALID_WAIT, errors.NOT_FOUND),
    ),
    Operation(
        method="POST",
        path="/v1/pairings/{id}/greet",
        caller=DEVICE,
        handler=greet,
        body=json_body(NonceRequest),
        id="greetPairing",
        tag=TAG,
        summary="Show the phone's nonce to a device that came with a typed code",
        description="With the phone's token.",
        curl=curl(_URL.format("/greet"), AS_DEVICE, SENDING_JSON, _NONCE),
        parameters=(_ID,),
        successes=(done(204, "The device sees it."),),
        errors=(errors.NOT_FOUND, errors.PAIRING_CLOSED),
    ),
    Operation(
        method="POST",
        path="/v1/pairings/{id}/reveal",
        caller=CLAIMANT,
        handler=reveal,
        body=json_body(NonceRequest),
        id="revealPairing",
        tag=TAG,
        summary="Reveal the nonce the device had committed itself to",
        description="With the `claim_token`. Both screens then show the same six digits.",
        curl=curl(_URL.format("/reveal"), _AS_CLAIMANT, SENDING_JSON, _NONCE),
        parameters=(_ID,),
        successes=(done(204, "The phone sees it."),),
        errors=(errors.NOT_FOUND, errors.PAIRING_CLOSED),
    ),
    Operation(
        method="POST",
        path="/v1/pairings/{id}/approve",
        caller=DEVICE,
        handler=approve,
        body=json_body(ApproveRequest),
        id="approvePairing",
        tag=TAG,
        summary="Let the device join",
        description=(
            "With the phone's token. `approval` is the list of the owner's devices as canonical JSON, with the phone's "
            "proof and signature over it: the new device checks both before it believes anything."
        ),
        curl=curl(
            _URL.format("/approve"),
            AS_DEVICE,
            SENDING_JSON,
            '-d "{\\"approval\\": \\"$APPROVAL\\", \\"proof\\": \\"$PROOF\\", \\"signature\\": \\"$SIGNATURE\\"}"',
        ),
        parameters=(_ID,),
        successes=(done(204, "The device is one of the owner's; the others are told."),),
        errors=(errors.NOT_FOUND, errors.PAIRING_CLOSED, errors.TOO_MANY_DEVICES),
    ),
    Operation(
        method="POST",
        path="/v1/relay",
        caller=DEVICE,
        handler=relay,
        body=json_body(RelayRequest, RELAY_BODY_MAX_BYTES),
        keyed_by=by_token,
        id="relay",
        tag=TAG,
        summary="Send something to other devices of the owner",
        description="Sealed by the sender for each of them; the server sees ids, sizes and times. "
        "Where too many of these wait already, the oldest go.",
        curl=curl(
            '"$REFLECTO_URL/v1/relay"',
            AS_DEVICE,
            SENDING_JSON,
            '-d "{\\"to\\": [\\"$DEVICE_ID\\"], \\"blobs\\": [\\"$BLOB\\"]}"',
        ),
        successes=(done(204, "It is in their queues."),),
        errors=(errors.NOT_FOUND, errors.QUEUE_FULL),
    ),
)
