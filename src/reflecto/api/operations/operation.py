"""One call of the API as a row of a table: who may make it, what answers it, and all that is said of it.

Route and document are both made from the row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from reflecto.api.callers import C, Caller
from reflecto.api.http import Call, Reply
from reflecto.api.use_cases import UseCases
from reflecto.contract import errors
from reflecto.contract.api_error import ErrorSpec
from reflecto.contract.limits import JSON_BODY_MAX_BYTES
from reflecto.contract.wire import M, Request

B = TypeVar("B")

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
OWN_FAILURES: Final = (errors.INTERNAL_ERROR, errors.UNAVAILABLE)


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A variable part of the path, a query parameter or a header."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    schema: Mapping[str, Any]
    may_have_slashes: bool = False  # `%2F` in a path is a slash before the path is looked up


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
    """A call as its handler gets it: from a known caller (a Sender, a Device), its body read."""

    use_cases: UseCases
    caller: C
    body: B


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
