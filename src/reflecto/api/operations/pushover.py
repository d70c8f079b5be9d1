"""Pushover's calls. Their replies are dicts in `api.pushover`; the models here describe them. Source: api.md."""

from typing import Any, ClassVar, Final, Literal

import msgspec

from reflecto.api.fields.note import HEX_DIGITS, Notes, a_time, note
from reflecto.api.operations.operation import JSON, MULTIPART, URLENCODED, Headers, Operation, Parameter, done
from reflecto.api.pushover import PushoverRequest
from reflecto.contract import errors, limits
from reflecto.contract.wire import Request

TAG: Final = "Pushover"
FORMS: Final = (URLENCODED, JSON, MULTIPART)


class PushoverUserRequest(Request, frozen=True, kw_only=True):
    """What decides is the token; whatever else there is, is ignored."""

    field_errors: ClassVar = {"token": errors.INVALID_TOKEN}

    token: str
    user: Any = None


class PushoverSent(msgspec.Struct, frozen=True):
    """The message is accepted."""

    status: Literal[1]
    request: str


class PushoverError(msgspec.Struct, frozen=True):
    """Pushover's form of an error; the HTTP status and headers are those of the underlying one."""

    status: Literal[0]
    errors: tuple[str, ...]
    request: str


class PushoverUser(msgspec.Struct, frozen=True):
    """The user key stands for the owner of the token."""

    status: Literal[1]
    group: Literal[0]
    devices: tuple[str, ...]
    licenses: tuple[str, ...]
    request: str


class PushoverSounds(msgspec.Struct, frozen=True):
    """The sounds clients may offer; here each device has its own."""

    status: Literal[1]
    sounds: dict[str, str]
    request: str


class PushoverLimits(msgspec.Struct, frozen=True):
    """The token's count of this month. Without a monthly limit the numbers are very large."""

    limit: int
    remaining: int
    reset: int
    status: Literal[1]
    request: str


_STATUS = note("1: it worked", 1)
_REQUEST = note("The id of the message, or of this request", f"msg_{HEX_DIGITS}", pattern="^msg_[0-9a-f]{32}$")

PUSHOVER_NOTES: Final[Notes] = {
    PushoverRequest: {
        "token": note("The sender token, in Pushover's place for it", "rfk_live_…"),
        "message": note(
            f"What to say; 1 to {limits.MESSAGE_MAX_BYTES} bytes of UTF-8",
            "Backup finished",
            minLength=1,
            maxLength=limits.MESSAGE_MAX_BYTES,
        ),
        "title": note("A line above it", "nas", maxLength=limits.TITLE_MAX_BYTES),
        "url": note("What a tap opens", "https://ci.example/runs/42", maxLength=limits.URL_MAX_BYTES),
        "url_title": note("What the link says", "Run 42"),
        "device": note("As in `POST /v1/send`", "phone"),
        "priority": note(
            "-2 min, -1 low, 0 default, 1 high; 2 (emergency) is refused: ask a question instead",
            0,
        ),
        "ttl": note("Seconds the message waits for a device that is offline", 3600),
    },
    PushoverUserRequest: {
        "token": note("The sender token, in Pushover's place for it", "rfk_live_…"),
        "user": note("Any key is valid", "me"),
    },
    PushoverSent: {"status": _STATUS, "request": _REQUEST},
    PushoverError: {
        "status": note("0: it did not work", 0),
        "errors": note("The code from the catalogue", ["invalid_message"]),
        "request": _REQUEST,
    },
    PushoverUser: {
        "status": _STATUS,
        "group": note("Never a group", 0),
        "devices": note("The labels of the owner's devices", ["Pixel 9"]),
        "licenses": note("Always empty", []),
        "request": _REQUEST,
    },
    PushoverSounds: {
        "status": _STATUS,
        "sounds": note("Name to description", {"pushover": "The device's own sound"}),
        "request": _REQUEST,
    },
    PushoverLimits: {
        "limit": note("Messages a month", 10000),
        "remaining": note("Messages left", 9999),
        "reset": a_time("When the next month begins", 2_000_000),
        "status": _STATUS,
        "request": _REQUEST,
    },
}

_TOKEN_QUERY: Final = Parameter(name="token", place="query", description="The sender token", schema={"type": "string"})
_LIMIT_HEADERS: Final[Headers] = {
    "X_Limit_App_Limit": "Messages a month",
    "X_Limit_App_Remaining": "Messages left this month",
    "X_Limit_App_Reset": "When the next month begins, in Unix seconds",
}
_MESSAGE: Final = (
    "For clients of Pushover's API: only their base URL changes. Pushover's other fields (`user`, `sound`, `html`, "
    "`timestamp`, …) are accepted and ignored; numbers may come as text."
)
_CURL: Final = (
    'curl "$REFLECTO_URL{path}" \\\n'
    '  --form-string "token=$REFLECTO_TOKEN" \\\n'
    "  --form-string user=me \\\n"
    '  --form-string "message=Backup finished"'
)


def _messages(path: str, operation_id: str, summary: str) -> Operation:
    return Operation(
        method="POST",
        path=path,
        id=operation_id,
        tag=TAG,
        summary=summary,
        description=_MESSAGE,
        curl=_CURL.format(path=path),
        auth="body",
        request=PushoverRequest,
        body_forms=FORMS,
        successes=(done(200, "The message is in the queues.", PushoverSent, **_LIMIT_HEADERS),),
        errors=(
            errors.MESSAGE_TOO_LONG,
            errors.PRIORITY_EMERGENCY_UNSUPPORTED,
            errors.PRIORITY_CAPPED,
            errors.SCOPE_DENIED,
            errors.QUEUE_FULL,
        ),
        limited=True,
        error_shape="pushover",
    )


PUSHOVER: Final = (
    _messages("/v1/messages.json", "pushoverMessage", "Send a message"),
    _messages("/1/messages.json", "pushoverMessageAlias", "Send a message, at Pushover's own path"),
    Operation(
        method="POST",
        path="/1/users/validate.json",
        id="pushoverValidate",
        tag=TAG,
        summary="Check token and user at set-up",
        description="Any user key is valid; the token decides whose devices are listed.",
        curl=('curl "$REFLECTO_URL/1/users/validate.json" \\\n  -d "token=$REFLECTO_TOKEN" -d user=me'),
        auth="body",
        request=PushoverUserRequest,
        body_forms=FORMS,
        successes=(done(200, "The token is valid.", PushoverUser),),
        error_shape="pushover",
    ),
    Operation(
        method="GET",
        path="/1/sounds.json",
        id="pushoverSounds",
        tag=TAG,
        summary="List sounds",
        description="Sounds are chosen on the device, so there is little to list.",
        curl='curl "$REFLECTO_URL/1/sounds.json?token=$REFLECTO_TOKEN"',
        auth="body",
        parameters=(_TOKEN_QUERY,),
        successes=(done(200, "The sounds.", PushoverSounds),),
        error_shape="pushover",
    ),
    Operation(
        method="GET",
        path="/1/apps/limits.json",
        id="pushoverLimits",
        tag=TAG,
        summary="Read the month's count",
        description="Asking costs nothing.",
        curl='curl "$REFLECTO_URL/1/apps/limits.json?token=$REFLECTO_TOKEN"',
        auth="body",
        parameters=(_TOKEN_QUERY,),
        successes=(done(200, "The count.", PushoverLimits),),
        error_shape="pushover",
    ),
)
