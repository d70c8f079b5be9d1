"""Pushover's calls, so that a client changes one URL.

Their replies are dicts; the models here describe them. Source: api.md "POST /v1/messages.json".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from reflecto.api.callers import SENDER_IN_BODY
from reflecto.api.http import Call, Reply
from reflecto.api.keyed import by_token
from reflecto.api.operations.operation import (
    JSON,
    MULTIPART,
    URLENCODED,
    Admitted,
    Body,
    Headers,
    Operation,
    Parameter,
    done,
)
from reflecto.api.pushover_fields import PushoverFields
from reflecto.api.pushover_shape import request_id
from reflecto.api.use_cases import UseCases
from reflecto.contract import errors
from reflecto.contract.caveats import Caveat
from reflecto.contract.ids import RECEIPT_PATTERN
from reflecto.contract.notes import HEX_DIGITS, a_time, note
from reflecto.contract.pushover import SOUNDS, PushoverRequest
from reflecto.contract.wire import Request, build_request
from reflecto.core.push import may_be_called_back
from reflecto.core.pushover import PushoverMessage, prepare
from reflecto.core.sender import Sender

TAG: Final = "Pushover"
FORMS: Final = (URLENCODED, JSON, MULTIPART)
_TEXT_FIELDS: Final = ("message", "title", "url", "url_title", "device")


RECEIPT_EXAMPLE: Final = "rLqVuqTRh62UzxtmqiaLzQmVcPgiCy"
REQUEST_EXAMPLE: Final = f"msg_{HEX_DIGITS}"
_TOKEN: Final = note("The sender token, or its short form", "rfk_live_…")

Succeeded = Annotated[Literal[1], note("1: it worked", 1)]
RequestId = Annotated[
    str, note("The id of the message, or of this request", REQUEST_EXAMPLE, pattern="^msg_[0-9a-f]{32}$")
]


class PushoverTokenRequest(Request, frozen=True, kw_only=True):
    """All that a cancellation needs."""

    field_errors: ClassVar = {"token": errors.INVALID_TOKEN}

    token: Annotated[str, _TOKEN]


class PushoverUserRequest(Request, frozen=True, kw_only=True):
    """What decides is the token; whatever else there is, is ignored."""

    field_errors: ClassVar = {"token": errors.INVALID_TOKEN}

    token: Annotated[str, _TOKEN]
    user: Annotated[Any, note("Any key is valid", "me")] = None


class PushoverSent(msgspec.Struct, frozen=True):
    """The message is accepted."""

    status: Succeeded
    request: RequestId
    receipt: Annotated[
        str | msgspec.UnsetType,
        note("Of an emergency", RECEIPT_EXAMPLE, pattern=f"^{RECEIPT_PATTERN.pattern}$"),
    ] = msgspec.UNSET
    warnings: Annotated[
        tuple[Caveat, ...] | msgspec.UnsetType,
        note("What was left out, cut or changed; absent where nothing was", []),
    ] = msgspec.UNSET


class PushoverError(msgspec.Struct, frozen=True):
    """Pushover's form of an error; the HTTP status and headers are those of the underlying one."""

    status: Annotated[Literal[0], note("0: it did not work", 0)]
    errors: Annotated[tuple[str, ...], note("The code from the catalogue", ["invalid_message"])]
    request: RequestId


class PushoverUser(msgspec.Struct, frozen=True):
    """The user key stands for the owner of the token."""

    status: Succeeded
    group: Annotated[Literal[0], note("Never a group", 0)]
    devices: Annotated[tuple[str, ...], note("The labels of the owner's devices", ["Pixel 9"])]
    licenses: Annotated[tuple[str, ...], note("Always empty", [])]
    request: RequestId


class PushoverSounds(msgspec.Struct, frozen=True):
    """The sounds clients may offer; here each device has its own."""

    status: Succeeded
    sounds: Annotated[dict[str, str], note("Name to description", {"pushover": "The device's own sound"})]
    request: RequestId


class PushoverLimits(msgspec.Struct, frozen=True):
    """The token's count of this month. Without a monthly limit the numbers are very large."""

    limit: Annotated[int, note("Messages a month", 10000)]
    remaining: Annotated[int, note("Messages left", 9999)]
    reset: Annotated[int, a_time("When the next month begins", 2_000_000)]
    status: Succeeded
    request: RequestId


TOKEN_QUERY: Final = Parameter(name="token", place="query", description="The sender token", schema={"type": "string"})
_LIMIT_HEADERS: Final[Headers] = {
    "X_Limit_App_Limit": "Messages a month",
    "X_Limit_App_Remaining": "Messages left this month",
    "X_Limit_App_Reset": "When the next month begins, in Unix seconds",
}
_MESSAGE: Final = (
    "For clients of Pushover's API: only their base URL changes. Fields may stand in the query, and numbers be text. "
    "Whatever cannot be done as asked is left out and named in `warnings`: such a client does not try again after an "
    "error. With priority 2 it rings every `retry` seconds until somebody acknowledges it on a phone."
)
_CURL: Final = (
    'curl "$REFLECTO_URL{path}" \\\n'
    '  --form-string "token=$REFLECTO_TOKEN" \\\n'
    "  --form-string user=me \\\n"
    '  --form-string "message=Backup finished"'
)


def _messages(path: str, operation_id: str, summary: str) -> Operation[Sender, PushoverFields]:
    return Operation(
        method="POST",
        path=path,
        caller=SENDER_IN_BODY,
        handler=send,
        body=pushover_body(PushoverRequest),
        keyed_by=by_token,
        limited=True,
        error_shape="pushover",
        id=operation_id,
        tag=TAG,
        summary=summary,
        description=_MESSAGE,
        curl=_CURL.format(path=path),
        successes=(done(200, "The message is in the queues.", PushoverSent, **_LIMIT_HEADERS),),
        errors=(
            errors.PRIORITY_CAPPED,
            errors.SCOPE_DENIED,
            errors.QUEUE_FULL,
            errors.TOO_MANY_EMERGENCIES,
        ),
    )


async def read_fields(use_cases: UseCases, call: Call) -> PushoverFields:
    """Read whatever form they come in. Raises: ApiError, as `PushoverReader.read`."""
    return await use_cases.pushover_reader.read(call)


def pushover_body(model: type[Request] | None = None) -> Body[PushoverFields]:
    """Return the body of a call whose token is among its fields; without `model` all of them stand in the query."""
    return Body(read_fields, model, FORMS)


async def send(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Send a message, or with priority 2 an emergency: 200 with the id, and its receipt."""
    message = _prepared(call.body, allow_private=call.use_cases.callback_allow_private)
    use_cases, sender = call.use_cases, call.caller
    if message.emergency is None:
        reply = await call.once(
            partial(use_cases.messages.send_like_pushover, sender, message),
            lambda sent: _accepted({"request": sent.id}, sent.warnings),
        )
    else:
        reply = await call.once(
            partial(use_cases.emergencies.send, sender, message, message.emergency),
            lambda alarm: _accepted({"request": alarm.id, "receipt": alarm.receipt}, alarm.caveats),
        )
    return msgspec.structs.replace(reply, headers={**reply.headers, **await _app_limits(call)})


async def validate_user(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Reply 200 with the labels of the owner's devices."""
    listed = await call.use_cases.devices.list_of_owner(call.caller.token.owner_id)
    labels = [device.label for device in listed.devices]
    return Reply(200, {"status": 1, "group": 0, "devices": labels, "licenses": [], "request": request_id()})


async def list_sounds(_call: Admitted[Sender, PushoverFields]) -> Reply:
    """Reply 200 with the sounds' names and descriptions."""
    return Reply(200, {"status": 1, "sounds": SOUNDS, "request": request_id()})


async def read_limits(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Reply 200 with the month's limit, what is left of it and when it ends."""
    limit, remaining, reset = (await _app_limits(call)).values()
    counts = {"limit": int(limit), "remaining": int(remaining), "reset": int(reset)}
    return Reply(200, {**counts, "status": 1, "request": request_id()})


def _accepted(ids: Mapping[str, str], warnings: Sequence[Caveat]) -> Reply:
    return Reply(200, {"status": 1, **ids, **({"warnings": warnings} if warnings else {})})


def _prepared(fields: PushoverFields, *, allow_private: bool) -> PushoverMessage:
    request = build_request(PushoverRequest, _as_given(fields.values), strict=False)
    return prepare(
        request,
        fields.attachment,
        lambda url: may_be_called_back(url, allow_private=allow_private),
        dropped=fields.attachment_dropped,
    )


def _as_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as texts, without those that are empty, as a form has them in the place of absent ones."""
    bare = {
        name: value.strip() if name == "priority" and isinstance(value, str) else value
        for name, value in values.items()
    }
    given = {name: value for name, value in bare.items() if value != "" or name == "message"}
    return {name: str(value) if name in _TEXT_FIELDS and _is_number(value) else value for name, value in given.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


async def _app_limits(call: Admitted[Sender, PushoverFields]) -> dict[str, str]:
    """Return Pushover's `X-Limit-App-*` headers: the month's limit, what is left, and its end in Unix seconds."""
    standing = await call.use_cases.quotas.monthly_standing(call.caller.token)
    return {
        "x-limit-app-limit": str(standing.limit),
        "x-limit-app-remaining": str(standing.remaining),
        "x-limit-app-reset": str(standing.reset_at),
    }


PUSHOVER: Final = (
    _messages("/v1/messages.json", "pushoverMessage", "Send a message"),
    _messages("/1/messages.json", "pushoverMessageAlias", "Send a message, at Pushover's own path"),
    Operation(
        method="POST",
        path="/1/users/validate.json",
        caller=SENDER_IN_BODY,
        handler=validate_user,
        body=pushover_body(PushoverUserRequest),
        error_shape="pushover",
        id="pushoverValidate",
        tag=TAG,
        summary="Check token and user at set-up",
        description="Any user key is valid; the token decides whose devices are listed.",
        curl=('curl "$REFLECTO_URL/1/users/validate.json" \\\n  -d "token=$REFLECTO_TOKEN" -d user=me'),
        successes=(done(200, "The token is valid.", PushoverUser),),
    ),
    Operation(
        method="GET",
        path="/1/sounds.json",
        caller=SENDER_IN_BODY,
        handler=list_sounds,
        body=pushover_body(),
        error_shape="pushover",
        id="pushoverSounds",
        tag=TAG,
        summary="List sounds",
        description="Sounds are chosen on the device, so there is little to list.",
        curl='curl "$REFLECTO_URL/1/sounds.json?token=$REFLECTO_TOKEN"',
        parameters=(TOKEN_QUERY,),
        successes=(done(200, "The sounds.", PushoverSounds),),
    ),
    Operation(
        method="GET",
        path="/1/apps/limits.json",
        caller=SENDER_IN_BODY,
        handler=read_limits,
        body=pushover_body(),
        error_shape="pushover",
        id="pushoverLimits",
        tag=TAG,
        summary="Read the month's count",
        description="Asking costs nothing.",
        curl='curl "$REFLECTO_URL/1/apps/limits.json?token=$REFLECTO_TOKEN"',
        parameters=(TOKEN_QUERY,),
        successes=(done(200, "The count.", PushoverLimits),),
    ),
)
