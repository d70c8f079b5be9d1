"""The calls with which devices end what sounds. Source: devices.md "Keys and envelopes"."""

from __future__ import annotations

from typing import Final

from reflecto.api.callers import DEVICE
from reflecto.api.http import Reply
from reflecto.api.operations.operation import AS_DEVICE, Admitted, Operation, Parameter, curl, done, path_id
from reflecto.contract import errors
from reflecto.contract.ids import RECEIPT_PATTERN
from reflecto.core.model import Device

TAG: Final = "Devices"


async def stop_ring(call: Admitted[Device, None]) -> Reply:
    """Stop a ring on all devices of the owner: 204."""
    await call.use_cases.rings.stop(call.caller, call.path_params["id"])
    return Reply(204)


async def acknowledge(call: Admitted[Device, None]) -> Reply:
    """End an emergency, as seen by the phone's owner: 204."""
    await call.use_cases.emergencies.acknowledge(call.caller, call.path_params["receipt"])
    return Reply(204)


ALARMS: Final = (
    Operation(
        method="POST",
        path="/v1/rings/{id}/stop",
        caller=DEVICE,
        handler=stop_ring,
        id="stopRing",
        tag=TAG,
        summary="Stop a ring on all devices",
        description="The owner's other devices are told to be silent. Stopping it again does nothing.",
        curl=curl('-X POST "$REFLECTO_URL/v1/rings/$RING_ID/stop"', AS_DEVICE),
        parameters=(path_id("msg", "ring"),),
        successes=(done(204, "It is stopped."),),
        errors=(errors.NOT_FOUND, errors.RATE_LIMIT_EXCEEDED),
    ),
    Operation(
        method="POST",
        path="/v1/emergencies/{receipt}/acknowledge",
        caller=DEVICE,
        handler=acknowledge,
        id="acknowledgeEmergency",
        tag=TAG,
        summary="Acknowledge an emergency",
        description="With a phone's token. It rings nowhere any more, and its sender is told who has seen it.",
        curl=curl('-X POST "$REFLECTO_URL/v1/emergencies/$RECEIPT/acknowledge"', AS_DEVICE),
        parameters=(
            Parameter(
                name="receipt",
                place="path",
                description="The emergency's receipt",
                schema={"type": "string", "pattern": f"^{RECEIPT_PATTERN.pattern}$"},
            ),
        ),
        successes=(done(204, "It is acknowledged, now or before."),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND, errors.EMERGENCY_CLOSED),
    ),
)
