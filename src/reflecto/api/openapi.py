"""The API described in OpenAPI 3.1, made from the wire models and the table of operations."""

from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import Any, Final

import msgspec

from reflecto.api.operations import OPERATIONS, TAGS
from reflecto.api.operations.operation import JSON, TEXT, AnyOperation, Parameter, Success
from reflecto.api.operations.pushover import REQUEST_EXAMPLE, PushoverError
from reflecto.api.schemas import Schema, form_schema, schemas_of
from reflecto.contract.api_error import ErrorSpec
from reflecto.contract.errors import (
    CATALOGUE,
    INTERNAL_ERROR,
    INVALID_TOKEN,
    MISSING_TOKEN,
    OUTCOME_UNKNOWN,
    UNAVAILABLE,
)
from reflecto.contract.limits import MESSAGE_MAX_BYTES
from reflecto.contract.sync import SyncEntry
from reflecto.contract.wire import Request, needs_fields

API_VERSION: Final = "1.1.0"
DESCRIPTION: Final = """\
One HTTPS call sends a notification or asks a question on the owner's phones; one tap answers it.

- Requests carry a sender token: `Authorization: Bearer rfk_live_…`. Test tokens (`rfk_test_…`) are validated,
  limited and answered alike, and nothing reaches a device.
- Times are Unix seconds. Unknown fields are ignored. Text is UTF-8; what is not is refused.
- Silence is never consent: only an interaction whose status is `answered` has an answer.
"""

# Flat on purpose, and unlike the rest: clients of the API rely on both shapes. Source: api.md "Errors".
ERROR_SCHEMAS: Final = {
    "Error": {
        "description": "Every error but 401. Codes are stable, messages may be reworded.",
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "string", "description": "What went wrong, for programs"},
                    "message": {"type": "string", "description": "The same for people"},
                    "details": {
                        "type": "object",
                        "additionalProperties": True,
                        "description": "More about it, where the code has more",
                    },
                },
            }
        },
    },
    "AuthError": {
        "description": "Flat on purpose. missing_token carries a message; invalid_token carries the code alone.",
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string", "enum": ["missing_token", "invalid_token"], "description": "What went wrong"},
            "message": {"type": "string", "description": "Only with missing_token"},
        },
    },
}
SECURITY_SCHEMES: Final = {
    "BearerAuth": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "rfk_live_… or rfk_test_…, then 32 characters of [A-Za-z0-9]",
        "description": "A sender token, made on a phone.",
    },
    "DeviceAuth": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "rfd_live_…, then 32 characters of [A-Za-z0-9]",
        "description": "A device's own token, given when it enrols.",
    },
}
SHARED_RESPONSES: Final = {
    "AuthError": [MISSING_TOKEN, INVALID_TOKEN],
    "InternalError": [INTERNAL_ERROR],
    "Unavailable": [UNAVAILABLE, OUTCOME_UNKNOWN],
}
SECURITY: Final[dict[str, list[dict[str, list[str]]]]] = {
    "sender": [{"BearerAuth": []}],
    "device": [{"DeviceAuth": []}],
    "either": [{"BearerAuth": []}, {"DeviceAuth": []}],
    "path": [],
    "body": [],
    "none": [],
}
_LIMIT_HEADERS: Final = {
    "X-RateLimit-Limit": ("integer", "Requests the tightest layer allows in its window"),
    "X-RateLimit-Remaining": ("integer", "Requests it has left"),
    "X-RateLimit-Reset": ("integer", "When it next frees something, in Unix seconds"),
    "X-RateLimit-Resource": (
        "string",
        "Which layer it is: `token_burst`, `token_monthly`, `receiver_daily`, `ip_minute` or `ip_hour`",
    ),
}
HEADERS: Final[dict[str, Any]] = {
    **{
        name: {"description": text, "required": True, "schema": {"type": kind}}
        for name, (kind, text) in _LIMIT_HEADERS.items()
    },
    "Retry-After": {"description": "How many seconds to wait", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "`Bearer`", "required": True, "schema": {"type": "string"}},
}


@cache
def document(public_path: str = "") -> bytes:
    """Return the document as JSON. `public_path` is what its server has before every path."""
    return msgspec.json.encode(_document(public_path))


@cache
def document_yaml(public_path: str = "") -> bytes:
    """Return the document as YAML."""
    return msgspec.yaml.encode(
        msgspec.json.decode(document(public_path))
    )  # decoded, so that nothing is shared: no YAML anchors


def _document(public_path: str) -> dict[str, Any]:
    models = [model for operation in OPERATIONS for model in _models_of(operation)] + [PushoverError, SyncEntry]
    unique = list(dict.fromkeys(models))
    schemas, components = schemas_of(unique)
    of_model = dict(zip(unique, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _Drawing(
            operation, of_model, components
        ).draw()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reflecto API",
            "version": API_VERSION,
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": public_path or "/", "description": "The server this document came from"}],
        "security": SECURITY["sender"],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {**components, **ERROR_SCHEMAS},
            "responses": _shared_responses(),
            "examples": {spec.code: {"summary": spec.message, "value": _example(spec)} for spec in _named_errors()},
            "headers": HEADERS,
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _models_of(operation: AnyOperation) -> Iterable[Any]:
    if operation.body.model is not None:
        yield operation.body.model
    for success in operation.successes:
        yield from success.models


class _Drawing:
    """One operation of the table, as an OpenAPI operation."""

    def __init__(self, operation: AnyOperation, of_model: dict[Any, Schema], components: dict[str, Schema]) -> None:
        self._operation = operation
        self._of_model = of_model
        self._components = components

    def draw(self) -> dict[str, Any]:
        operation = self._operation
        drawn: dict[str, Any] = {
            "tags": [operation.tag],
            "operationId": operation.id,
            "summary": operation.summary,
            "description": operation.description,
            "security": SECURITY[operation.caller.token],
        }
        if operation.every_parameter:
            drawn["parameters"] = [_parameter(parameter) for parameter in operation.every_parameter]
        if operation.body.model is not None:
            drawn["requestBody"] = {
                "required": needs_fields(operation.body.model),
                "content": self._body(operation.body.model),
            }
        drawn["responses"] = {str(success.status): self._success(success) for success in operation.every_success}
        for status, specs in groupby(operation.every_error(), key=lambda spec: spec.status):
            drawn["responses"][str(status)] = self._errors(status, list(specs))
        drawn["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": operation.curl}]
        return drawn

    def _body(self, model: type[Request]) -> dict[str, Any]:
        def schema_of(media_type: str) -> Schema:
            if media_type == JSON:
                return self._of_model[model]
            if media_type == TEXT:
                bounds = {"minLength": 1, "maxLength": MESSAGE_MAX_BYTES}
                return {"type": "string", "description": "The message", **bounds}
            return form_schema(self._components[model.__name__])

        return {name: {"schema": schema_of(name)} for name in self._operation.body.forms}

    def _success(self, success: Success) -> dict[str, Any]:
        drawn: dict[str, Any] = {"description": success.description}
        headers = self._limit_headers() | {
            name: {"description": text, "schema": {"type": "string"}} for name, text in success.headers.items()
        }
        if headers:
            drawn["headers"] = headers
        if success.models:
            schemas = [self._of_model[model] for model in success.models]
            drawn["content"] = {JSON: {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}}
        elif success.content_type is not None:
            drawn["content"] = {success.content_type: {"schema": {}}}
        return drawn

    def _errors(self, status: int, specs: list[ErrorSpec]) -> dict[str, Any]:
        for name, shared in SHARED_RESPONSES.items():
            if specs == shared and self._operation.error_shape == "reflecto":
                return {"$ref": f"#/components/responses/{name}"}
        if self._operation.error_shape == "pushover":
            drawn = _error_response(specs, "PushoverError", {spec.code: _pushover_example(spec) for spec in specs})
        else:
            drawn = _error_response(specs, "AuthError" if status == 401 else "Error")
        if headers := self._error_headers(status):
            drawn["headers"] = headers
        return drawn

    def _error_headers(self, status: int) -> dict[str, Any]:
        if status == 401:
            return _header("WWW-Authenticate")
        if status == 429:
            return _header("Retry-After") | self._limit_headers()
        return {}

    def _limit_headers(self) -> dict[str, Any]:
        names = _LIMIT_HEADERS if self._operation.limited else ()
        return {key: value for name in names for key, value in _header(name).items()}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _error_response(specs: list[ErrorSpec], schema: str, examples: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the reply of one status; its examples are named after the codes there may be."""
    return {
        "description": "One of " + ", ".join(f"`{spec.code}`" for spec in specs),
        "content": {
            JSON: {
                "schema": {"$ref": f"#/components/schemas/{schema}"},
                "examples": examples or {spec.code: {"$ref": f"#/components/examples/{spec.code}"} for spec in specs},
            }
        },
    }


def _shared_responses() -> dict[str, Any]:
    """Return the replies that are the same almost everywhere."""
    headers = {"AuthError": "WWW-Authenticate", "Unavailable": "Retry-After"}
    return {
        name: _error_response(specs, "AuthError" if name == "AuthError" else "Error")
        | ({"headers": _header(headers[name])} if name in headers else {})
        for name, specs in SHARED_RESPONSES.items()
    }


def _named_errors() -> list[ErrorSpec]:
    """Return the errors some operation gives in this API's own shape, in the order of the catalogue."""
    ours = [operation for operation in OPERATIONS if operation.error_shape == "reflecto"]
    named = {spec.code for operation in ours for spec in operation.every_error()}
    return [spec for spec in CATALOGUE.values() if spec.code in named]


def _header(name: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"}}


def _example(spec: ErrorSpec) -> dict[str, Any]:
    """Return the reply with this code and its own message; 401 is flat."""
    if spec is INVALID_TOKEN:
        return {"error": spec.code}
    if spec.status == 401:
        return {"error": spec.code, "message": spec.message}
    return {"error": {"code": spec.code, "message": spec.message}}


def _pushover_example(spec: ErrorSpec) -> dict[str, Any]:
    return {"value": {"status": 0, "errors": [spec.code], "request": REQUEST_EXAMPLE}}
