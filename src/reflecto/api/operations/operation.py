"""One call of the API as a row of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from reflecto.contract import errors
from reflecto.contract.errors import ErrorSpec
from reflecto.contract.wire import Request

JSON: Final = "application/json"
URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
TEXT: Final = "text/plain"

# What the commands share. They are bash's and zsh's as well as sh's.
AS_SENDER: Final = '-H "Authorization: Bearer $REFLECTO_TOKEN"'
AS_TEST_SENDER: Final = '-H "Authorization: Bearer $REFLECTO_TEST_TOKEN"'
AS_DEVICE: Final = '-H "Authorization: Bearer $REFLECTO_DEVICE_TOKEN"'
SENDING_JSON: Final = "-H 'Content-Type: application/json'"

Auth = Literal["sender", "device", "either", "path", "body", "none"]
Headers = Mapping[str, str]  # name of a reply's header to what it says

# Whatever a call does, the server may fail or be unable to store.
OWN_FAILURES: Final = (errors.INTERNAL_ERROR, errors.UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A variable part of the path, a query parameter or a header."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """One way a call succeeds: with one of `models`, else with something of `content_type`, else without a body."""

    status: int
    description: str
    models: tuple[type[msgspec.Struct], ...] = ()
    content_type: str | None = None
    headers: Headers = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call. `errors` are those that do not follow from its token, body and fields; see `every_error`.

    `curl` is a command that works as it stands, once the variables in it are set.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    id: str
    tag: str
    summary: str
    description: str
    curl: str
    auth: Auth
    successes: tuple[Success, ...]
    request: type[Request] | None = None
    body_forms: tuple[str, ...] = (JSON,)
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[ErrorSpec, ...] = ()
    limited: bool = False
    error_shape: Literal["reflecto", "pushover"] = "reflecto"

    def every_error(self) -> list[ErrorSpec]:
        """Return all its errors, each once, by status and in the order of the catalogue."""
        found = {*self.errors, *OWN_FAILURES}
        if self.auth != "none":
            found |= {errors.INVALID_TOKEN, errors.RATE_LIMIT_EXCEEDED}
        if self.auth not in {"none", "path"}:
            found.add(errors.MISSING_TOKEN)
        if self.request is not None:
            found |= {*self.request.field_errors.values(), errors.PAYLOAD_TOO_LARGE, errors.UNSUPPORTED_MEDIA_TYPE}
            found |= {errors.INVALID_JSON} if JSON in self.body_forms else set()
            found |= {errors.INVALID_BODY} if set(self.body_forms) - {JSON} else set()
        order = list(errors.CATALOGUE)
        return sorted(found, key=lambda spec: (spec.status, order.index(spec.code)))


def path_id(prefix: str, what: str) -> Parameter:
    """Return the parameter `{id}`."""
    schema = {"type": "string", "pattern": f"^{prefix}_[0-9a-f]{{32}}$"}
    return Parameter(name="id", place="path", description=f"The id of the {what}", schema=schema)


def done(status: int, description: str, model: type[msgspec.Struct] | None = None, **headers: str) -> Success:
    """Return a success; an underscore in a header's name stands for a dash."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    models = () if model is None else (model,)
    return Success(status=status, description=description, models=models, headers=named)


def curl(*arguments: str) -> str:
    """Return a command of one argument a line."""
    return "curl " + " \\\n  ".join(arguments)
