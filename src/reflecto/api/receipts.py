"""Pushover's calls on receipts of emergencies. Source: api.md "POST /v1/messages.json"."""

from typing import Any

from starlette.routing import Route

from reflecto.api.auth import Authenticator
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.pushover_fields import PushoverReader, sender_of
from reflecto.api.pushover_shape import pushover_shape, request_id
from reflecto.core.emergencies import Emergencies
from reflecto.core.model import Emergency
from reflecto.core.sender import Sender


def receipt_routes(auth: Authenticator, emergencies: Emergencies) -> list[Route]:
    """Return the routes under /1/receipts."""
    reader = PushoverReader()

    async def sender(call: Call) -> Sender:
        return await sender_of(auth, call, (await reader.read(call)).values)

    async def read(call: Call) -> Reply:
        emergency = await emergencies.read(await sender(call), call.path_params["receipt"])
        return Reply(200, {"status": 1, **_receipt(emergency), "request": request_id()})

    async def cancel(call: Call) -> Reply:
        await emergencies.cancel(await sender(call), call.path_params["receipt"])
        return Reply(200, {"status": 1, "request": request_id()})

    async def cancel_by_tag(call: Call) -> Reply:
        canceled = await emergencies.cancel_by_tag(await sender(call), call.path_params["tag"])
        return Reply(200, {"status": 1, "canceled": canceled, "request": request_id()})

    return [
        Route("/1/receipts/cancel_by_tag/{tag}.json", Endpoint(shape=pushover_shape, POST=cancel_by_tag)),
        Route("/1/receipts/{receipt}/cancel.json", Endpoint(shape=pushover_shape, POST=cancel)),
        Route("/1/receipts/{receipt}.json", Endpoint(shape=pushover_shape, GET=read)),
    ]


def _receipt(emergency: Emergency) -> dict[str, Any]:
    """Return how the emergency stands, in Pushover's fields; a cancelled one has expired when it was cancelled."""
    acknowledged = emergency.status == "acknowledged"
    return {
        "acknowledged": int(acknowledged),
        "acknowledged_at": emergency.ended_at if acknowledged else 0,
        "acknowledged_by": emergency.owner_id if acknowledged else "",
        "acknowledged_by_device": emergency.device_label or "",
        "last_delivered_at": emergency.last_delivered_at,
        "expired": int(emergency.status in {"expired", "cancelled"}),
        "expires_at": emergency.ended_at if emergency.status == "cancelled" else emergency.expires_at,
        "called_back": int(emergency.called_back_at is not None),
        "called_back_at": emergency.called_back_at or 0,
    }
