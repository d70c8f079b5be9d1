"""One call of the API as a row of a table: who may make it, what answers it, and all that is said of it.

Route and document are both made from the row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from reflecto.api.callers import C, Caller
from reflecto.api.http import Call, Reply
from reflecto.api.keyed import REPLAYED
from reflecto.api.use_cases import UseCases
from reflecto.contract import errors
from reflecto.contract.api_error import ErrorSpec
from reflecto.contract.limits import IDEMPOTENCY_KEY_MAX_CHARS, JSON_BODY_MAX_BYTES
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER, M, Request
from reflecto.core.repeats import FirstReply, Keeping, KeyedRequest
from reflecto.core.sender import Sender

B = TypeVar("B")
R = TypeVar("R")

JSON: Final = "application/json"
URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
TEXT: Final = "text/plain"

# What the commands share. They are bash's and zsh's as well as sh's.
AS_SENDER: Final = '-H "Authorization: Bearer $REFLECTO_TOKEN"'
AS_TEST_SENDER: Final = '-H "Authorization: Bearer $REFLECTO_TEST_TOKEN"'
AS_DEVICE: Final = '-H "Authorization: Bearer $REFLECTO_DEVICE_TOKEN"'
SENDING_JSON: Final = "-H 'Content-Type: application/json'"

Headers = Mapping[str, str]  # name of a reply's header to what it says

# Whatever a call does, the server may fail or be unable to store.
OWN_FAILURES: Final = (errors.INTERNAL_ERROR, errors.UNAVAILABLE, errors.OUTCOME_UNKNOWN)


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A variable part of the path, a query parameter or a header."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    schema: Mapping[str, Any]
    may_have_slashes: bool = False  # `%2F` in a path is a slash before the path is looked up


IDEMPOTENCY_KEY: Final = Parameter(
    name=IDEMPOTENCY_KEY_HEADER,
    place="header",
    description=(
        "A name for this request, new for each: sent again under it within 24 hours, it does nothing more and gets the "
        "first reply"
    ),
    schema={"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_MAX_CHARS},
)
REPLAYED_HEADER: Final[Headers] = {REPLAYED: "`true`: a repeat; this is the first reply"}


class Success(msgspec.Struct, frozen=True, kw_only=True):
    """One way a call succeeds: with one of `models`, else with something of `content_type`, else without a body."""

    status: int
    description: str
    models: tuple[type[msgspec.Struct], ...] = ()
    content_type: str | None = None
    headers: Headers = msgspec.field(default_factory=dict)


class Body(msgspec.Struct, Generic[B], frozen=True):
    """A call's body: `model` describes it in each of `forms`, `read` returns what the handler is handed of it.

    `read` raises ApiError, and ClientDisconnectedError.
    """

    read: Callable[[UseCases, Call], Awaitable[B]]
    model: type[Request] | None = None
    forms: tuple[str, ...] = (JSON,)


class Admitted(Call, Generic[C, B], frozen=True):
    """A call as its handler gets it: from a known caller (a Sender, a Device), its body read.

    `keyed`: the request under its Idempotency-Key, where it has one.
    """

    use_cases: UseCases
    caller: C
    body: B
    keyed: KeyedRequest | None = None

    async def once(self, perform: Callable[[Keeping[R] | None], Awaitable[R]], reply_of: Callable[[R], Reply]) -> Reply:
        """Reply to what `perform` made; to a repeat with the first reply, and nothing is performed.

        Raises: ApiError `idempotency_key_reused`, `rate_limit_exceeded`; what `perform` raises.
        """
        if self.keyed is None:
            return reply_of(await perform(None))

        def parts(result: R) -> tuple[int, Any]:
            reply = reply_of(result)
            return reply.status, reply.body

        payer = self.caller.token if isinstance(self.caller, Sender) else None
        result = await self.use_cases.repeats.once(self.keyed, perform, parts, payer)
        if isinstance(result, FirstReply):
            body = None if result.body is None else msgspec.Raw(result.body)
            return Reply(result.status, body, {REPLAYED.lower(): "true"})
        return reply_of(result)


Handler = Callable[[Admitted[C, B]], Awaitable[Reply | None]]


async def _no_body(_use_cases: UseCases, _call: Call) -> None:
    """Read nothing: the call has no body, or its handler reads it."""


NO_BODY: Final[Body[Any]] = Body(_no_body)


def json_body(model: type[M], max_bytes: int = JSON_BODY_MAX_BYTES) -> Body[M]:
    """Return the body that is one JSON object, read no further than `max_bytes`."""

    async def read(_use_cases: UseCases, call: Call) -> M:
        return await call.json(model, max_bytes)

    return Body(read, model)


class Operation(msgspec.Struct, Generic[C, B], frozen=True, kw_only=True):
    """One call. Without a `tag` it is in no document: programs make it that bring their own contract.

    `keyed_by`: a call that creates takes an Idempotency-Key, and this returns whose it is: a secret of the caller's.
    `head` answers HEAD where the handler of GET cannot. `limited`: it counts against the sender's limits, and each 2xx
    and 429 tells how the tightest stands. `errors` are those that do not follow from its caller, body and fields; see
    `every_error`. `curl` is a command that works as it stands, once the variables in it are set.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    caller: Caller[C]
    handler: Handler[C, B]
    head: Handler[C, B] | None = None
    body: Body[B] = NO_BODY
    keyed_by: Callable[[Call, C, B], str] | None = None
    limited: bool = False
    error_shape: Literal["reflecto", "pushover"] = "reflecto"
    id: str
    tag: str | None = None
    summary: str = ""
    description: str = ""
    curl: str = ""
    parameters: tuple[Parameter, ...] = ()
    successes: tuple[Success, ...] = ()
    errors: tuple[ErrorSpec, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a row that cannot be served. Raises: ValueError."""
        if self.limited and self.caller.token not in {"sender", "path", "body"}:
            raise ValueError(f"{self.id}: only what a sender calls is limited")
        if self.tag is not None and not (self.summary and self.description and self.curl and self.successes):
            raise ValueError(f"{self.id}: a documented call says what it does, how it is made and how it succeeds")

    @property
    def every_parameter(self) -> tuple[Parameter, ...]:
        """Its parameters, and those that follow from its other columns."""
        return self.parameters if self.keyed_by is None else (*self.parameters, IDEMPOTENCY_KEY)

    @property
    def every_success(self) -> tuple[Success, ...]:
        """How it succeeds, with the headers that follow from its other columns."""
        if self.keyed_by is None:
            return self.successes
        return tuple(
            msgspec.structs.replace(each, headers={**each.headers, **REPLAYED_HEADER}) for each in self.successes
        )

    @property
    def route_path(self) -> str:
        """The path in Starlette's form: `{tag:path}` for what may have slashes."""
        wanted = self.path
        for parameter in self.parameters:
            if parameter.may_have_slashes:
                wanted = wanted.replace(f"{{{parameter.name}}}", f"{{{parameter.name}:path}}")
        return wanted

    def every_error(self) -> list[ErrorSpec]:
        """Return all its errors, each once, by status and in the order of the catalogue."""
        found = {*self.errors, *OWN_FAILURES}
        if self.caller.token != "none":
            found |= {errors.INVALID_TOKEN, errors.RATE_LIMIT_EXCEEDED}
        if self.caller.token not in {"none", "path"}:
            found.add(errors.MISSING_TOKEN)
        if self.body.model is not None:
            found |= {*self.body.model.field_errors.values(), errors.PAYLOAD_TOO_LARGE, errors.UNSUPPORTED_MEDIA_TYPE}
            found |= {errors.INVALID_JSON} if JSON in self.body.forms else set()
            found |= {errors.INVALID_BODY} if set(self.body.forms) - {JSON} else set()
        if self.keyed_by is not None:
            found |= {errors.INVALID_IDEMPOTENCY_KEY, errors.IDEMPOTENCY_KEY_REUSED}
        order = list(errors.CATALOGUE)
        return sorted(found, key=lambda spec: (spec.status, order.index(spec.code)))


AnyOperation = Operation[Any, Any]


def path_id(prefix: str, what: str) -> Parameter:
    """Return the path parameter `{id}`: an id that begins with `prefix`."""
    schema = {"type": "string", "pattern": f"^{prefix}_[0-9a-f]{{32}}$"}
    return Parameter(name="id", place="path", description=f"The id of the {what}", schema=schema)


def done(status: int, description: str, model: type[msgspec.Struct] | None = None, **headers: str) -> Success:
    """Return a success; an underscore in a header's name stands for a dash."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    models = () if model is None else (model,)
    return Success(status=status, description=description, models=models, headers=named)


def curl(*arguments: str) -> str:
    """Return a curl command with each argument on a line of its own."""
    return "curl " + " \\\n  ".join(arguments)
