"""How wire models name the error of each field, and the one way raw JSON becomes a model.

A model's `field_errors` maps each field to the catalogue row that a bad value of it gets, `field_checks` some fields to
what types and bounds cannot say. Fields are looked at one by one in the order of the model, which is the contract's.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from reflecto.contract.api_error import ApiError, ErrorSpec
from reflecto.contract.errors import INVALID_JSON
from reflecto.contract.json_bodies import UnusableJsonError
from reflecto.contract.json_text import parse_strictly
from reflecto.contract.visibility import seen_of

M = TypeVar("M", bound="Request")

IDEMPOTENCY_KEY_HEADER: Final = "Idempotency-Key"  # of every request that creates and has no key in its body
NOT_BLANK: Final = r"\S"  # as much of `is_not_blank` as a schema can say
# The same of a text that the store keeps readable; PostgreSQL keeps no NUL.
NOT_BLANK_NO_NUL: Final = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"


def is_not_blank(text: str) -> bool:
    """Tell whether a person would see anything of the text."""
    return seen_of(text) != ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request body. Unknown fields are ignored."""

    field_errors: ClassVar[Mapping[str, ErrorSpec]] = {}
    field_checks: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}


def decode_request(model: type[M], body: bytes) -> M:
    """Read `body` as one JSON object and return it as `model`; no body is `{}` where the model needs no field.

    Refused with `invalid_json`: what `json_text.parse_strictly` refuses.

    Raises: ApiError with the code of the first offending field.
    """
    return build_request(model, parse_object(body) if body or needs_fields(model) else {})


def needs_fields(model: type[Request]) -> bool:
    """Tell whether some field of the model must be given."""
    return any(field.required for field in _fields_of(model))


def build_request(model: type[M], fields: Mapping[str, Any], *, strict: bool = True) -> M:
    """Return `fields` as `model`. Not strict: text stands for numbers and booleans too, as in a form.

    Raises: ApiError with the code of the first offending field.
    """
    values = {}
    for field in _fields_of(model):
        name = field.encode_name
        if name in fields:
            values[field.name] = _field_value(model, name, field.type, fields[name], strict=strict)
        elif field.required:
            raise ApiError(model.field_errors[name])
    return model(**values)


def parse_object(body: bytes) -> dict[str, Any]:
    """Return `body` as one JSON object, refused as `decode_request` says. Raises: ApiError `invalid_json`."""
    try:
        return parse_strictly(body)
    except UnusableJsonError as error:
        raise ApiError(INVALID_JSON, f"{INVALID_JSON.message}; this one {error}") from None


@cache
def _fields_of(model: type[Request]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(model)


def _field_value(model: type[Request], name: str, kind: Any, given: object, *, strict: bool) -> Any:
    check = model.field_checks.get(name)
    try:
        value = msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError:
        raise ApiError(model.field_errors[name]) from None
    if check is not None and not check(value):
        raise ApiError(model.field_errors[name])
    return value
