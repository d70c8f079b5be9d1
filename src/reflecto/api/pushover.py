"""Pushover's calls, so that a client changes one URL.

Source: api.md "POST /v1/messages.json", neighbours.md "Pushover".
"""

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from msgspec import UNSET, UnsetType
from starlette.routing import Route

from reflecto.api.bodies import message_of, read_fields
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.limits import Gate
from reflecto.contract import errors
from reflecto.contract.errors import (
    INVALID_PRIORITY,
    MISSING_TOKEN,
    PRIORITY_EMERGENCY_UNSUPPORTED,
    ApiError,
)
from reflecto.contract.messages import SendRequest
from reflecto.contract.tokens import PRIORITIES, Priority
from reflecto.contract.wire import Request
from reflecto.core.devices import Devices
from reflecto.core.messages import Messages
from reflecto.core.sender import Sender

LOWEST_PRIORITY: Final = -2
EMERGENCY_PRIORITY: Final = 2
SOUNDS: Final = {"pushover": "The device's own sound", "none": "None (silent)"}  # sounds are chosen on the device


class PushoverRequest(Request, frozen=True, kw_only=True):
    """Pushover's message. Whatever is not named here (user, sound, timestamp, html, …) is ignored."""

    field_errors: ClassVar = {
        "token": errors.INVALID_TOKEN,
        "message": errors.INVALID_MESSAGE,
        "title": errors.INVALID_TITLE,
        "url": errors.INVALID_URL,
        "url_title": errors.INVALID_URL_TITLE,
        "device": errors.INVALID_DEVICE,
        "priority": errors.INVALID_PRIORITY,
        "ttl": errors.INVALID_TTL,
    }
    field_checks: ClassVar = SendRequest.field_checks

    message: str
    token: str | UnsetType = UNSET
    title: str | None = None
    url: str | None = None
    url_title: str | None = None
    device: str = "all"
    priority: int = 0
    ttl: int | float | None = None

    def as_send(self) -> SendRequest:
        """Return it as a message of this API. Raises: ApiError `invalid_priority`, `priority_emergency_unsupported`."""
        return SendRequest(
            message=self.message,
            title=self.title,
            priority=_priority_of(self.priority),
            url=self.url,
            url_title=self.url_title if self.url else None,
            device=self.device,
            ttl=self.ttl,
        )


def pushover_routes(gate: Gate, messages: Messages, devices: Devices) -> list[Route]:
    """Return Pushover's routes, under /v1 and under Pushover's own /1."""

    async def send(call: Call) -> Reply:
        gate.quotas.admit_address(call.client_address)
        fields, _ = await read_fields(call, PushoverRequest)
        sender = await _authenticate(gate, call, fields)

        async def handle(_call: Call, sender: Sender) -> Reply:
            given = {name: value for name, value in fields.items() if value is not None}
            request = message_of(PushoverRequest, given, typed=False)
            sent = await messages.send(sender, request.as_send(), or_to_all=True)
            return Reply(200, {"status": 1, "request": sent.id}, _app_limits(gate, sender))

        return await gate.run(call, sender, handle)

    async def validate_user(call: Call) -> Reply:
        fields, _ = await read_fields(call, PushoverRequest)
        sender = await _authenticate(gate, call, fields)
        labels = [device.label for device in (await devices.list_of_owner(sender.token.owner_id)).devices]
        return Reply(200, {"status": 1, "group": 0, "devices": labels, "licenses": [], "request": _request_id()})

    async def list_sounds(call: Call) -> Reply:
        await gate.auth.sender_with(call, await _token_of_get(call))
        return Reply(200, {"status": 1, "sounds": SOUNDS, "request": _request_id()})

    async def app_limits(call: Call) -> Reply:
        sender = await gate.auth.sender_with(call, await _token_of_get(call))
        limit, remaining, reset = _app_limits(gate, sender).values()
        counts = {"limit": int(limit), "remaining": int(remaining), "reset": int(reset)}
        return Reply(200, {**counts, "status": 1, "request": _request_id()})

    send_endpoint = Endpoint(shape=_pushover_shape, POST=send)
    return [
        Route("/v1/messages.json", send_endpoint),
        Route("/1/messages.json", send_endpoint),
        Route("/1/users/validate.json", Endpoint(shape=_pushover_shape, POST=validate_user)),
        Route("/1/sounds.json", Endpoint(shape=_pushover_shape, GET=list_sounds)),
        Route("/1/apps/limits.json", Endpoint(shape=_pushover_shape, GET=app_limits)),
    ]


def _priority_of(priority: int) -> Priority:
    if priority == EMERGENCY_PRIORITY:
        raise ApiError(PRIORITY_EMERGENCY_UNSUPPORTED)
    if not LOWEST_PRIORITY <= priority < EMERGENCY_PRIORITY:
        raise ApiError(INVALID_PRIORITY, "priority must be -2, -1, 0 or 1")
    return PRIORITIES[priority - LOWEST_PRIORITY]


async def _authenticate(gate: Gate, call: Call, fields: Mapping[str, Any]) -> Sender:
    token = fields.get("token") or call.query("token")
    if not isinstance(token, str):
        raise ApiError(MISSING_TOKEN, "token must be a sender token, rfk_live_…")
    return await gate.auth.sender_with(call, token.strip())


async def _token_of_get(call: Call) -> str:
    """Return the token of the query, or as some clients send it, of a form in the body of a GET."""
    token = call.query("token")
    if not token and call.media_type in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        fields, _ = await read_fields(call, PushoverRequest)
        token = fields.get("token")
    if not token:
        raise ApiError(MISSING_TOKEN, "token must be a sender token, rfk_live_…")
    return token.strip()


def _app_limits(gate: Gate, sender: Sender) -> dict[str, str]:
    """Return Pushover's quota headers; it counts by month."""
    standing = gate.quotas.monthly_standing(sender.token)
    return {
        "x-limit-app-limit": str(standing.limit),
        "x-limit-app-remaining": str(standing.remaining),
        "x-limit-app-reset": str(standing.reset_at),
    }


def _pushover_shape(reply: Reply) -> Reply:
    """Return an error as Pushover's, with the status and headers of the underlying failure."""
    if reply.status < 300:
        return reply
    described = reply.body["error"]
    code = described if isinstance(described, str) else described["code"]
    return Reply(reply.status, {"status": 0, "errors": [code], "request": _request_id()}, reply.headers)


def _request_id() -> str:
    return f"msg_{secrets.token_hex(16)}"
