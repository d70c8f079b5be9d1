"""Pushover's calls, so that a client changes one URL.

Source: api.md "POST /v1/messages.json", neighbours.md "Pushover".
"""

from collections.abc import Mapping
from typing import Any, Final

from starlette.routing import Route

from reflecto.api.gate import Gate
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.pushover_fields import PushoverFields, PushoverReader, sender_of
from reflecto.api.pushover_shape import pushover_shape, request_id
from reflecto.contract.pushover import SOUNDS, PushoverRequest
from reflecto.contract.wire import build_request
from reflecto.core.devices import Devices
from reflecto.core.emergencies import Emergencies
from reflecto.core.messages import Messages
from reflecto.core.push import is_callable_url
from reflecto.core.pushover import PushoverMessage, prepare
from reflecto.core.sender import Sender

_TEXTS: Final = ("message", "title", "url", "url_title", "device")


def pushover_routes(
    gate: Gate, messages: Messages, emergencies: Emergencies, devices: Devices, *, allow_private_callbacks: bool = False
) -> list[Route]:
    """Return Pushover's routes, under /v1 and under Pushover's own /1."""
    reader = PushoverReader()

    def prepared(fields: PushoverFields) -> PushoverMessage:
        request = build_request(PushoverRequest, _as_given(fields.values), strict=False)
        return prepare(
            request,
            fields.attachment,
            lambda url: is_callable_url(url, allow_private=allow_private_callbacks),
            dropped=fields.attachment_dropped,
        )

    async def send(call: Call) -> Reply | None:
        async with gate.counting_strangers(call):
            fields = await reader.read(call)
            sender = await sender_of(gate.auth, call, fields.values)

        async def handle() -> Reply:
            message = prepared(fields)
            body: dict[str, Any] = {"status": 1}
            if message.emergency is None:
                sent = await messages.send_like_pushover(sender, message)
                body["request"], warnings = sent.id, sent.warnings
            else:
                alarm = await emergencies.send(sender, message, message.emergency)
                body["request"], body["receipt"], warnings = alarm.id, alarm.receipt, alarm.caveats
            if warnings:
                body["warnings"] = warnings
            return Reply(200, body, _app_limits(gate, sender))

        return await gate.run(sender, handle)

    async def validate_user(call: Call) -> Reply:
        sender = await sender_of(gate.auth, call, (await reader.read(call)).values)
        labels = [device.label for device in (await devices.list_of_owner(sender.token.owner_id)).devices]
        return Reply(200, {"status": 1, "group": 0, "devices": labels, "licenses": [], "request": request_id()})

    async def list_sounds(call: Call) -> Reply:
        await sender_of(gate.auth, call, (await reader.read(call)).values)
        return Reply(200, {"status": 1, "sounds": SOUNDS, "request": request_id()})

    async def app_limits(call: Call) -> Reply:
        sender = await sender_of(gate.auth, call, (await reader.read(call)).values)
        limit, remaining, reset = _app_limits(gate, sender).values()
        counts = {"limit": int(limit), "remaining": int(remaining), "reset": int(reset)}
        return Reply(200, {**counts, "status": 1, "request": request_id()})

    send_endpoint = Endpoint(shape=pushover_shape, POST=send)
    return [
        Route("/v1/messages.json", send_endpoint),
        Route("/1/messages.json", send_endpoint),
        Route("/1/users/validate.json", Endpoint(shape=pushover_shape, POST=validate_user)),
        Route("/1/sounds.json", Endpoint(shape=pushover_shape, GET=list_sounds)),
        Route("/1/apps/limits.json", Endpoint(shape=pushover_shape, GET=app_limits)),
    ]


def _as_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as texts, without those that are empty, as a form has them in the place of absent ones."""
    given = {name: value for name, value in values.items() if value != "" or name == "message"}
    return {name: str(value) if name in _TEXTS and _is_number(value) else value for name, value in given.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _app_limits(gate: Gate, sender: Sender) -> dict[str, str]:
    """Return Pushover's quota headers; it counts by month."""
    standing = gate.quotas.monthly_standing(sender.token)
    return {
        "x-limit-app-limit": str(standing.limit),
        "x-limit-app-remaining": str(standing.remaining),
        "x-limit-app-reset": str(standing.reset_at),
    }
