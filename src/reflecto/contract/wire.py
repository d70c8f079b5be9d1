"""How wire models name the error of each field, and the one way raw JSON becomes a model.

A model's `field_errors` maps each field to the catalogue row that a bad value of it gets, `field_checks` some fields to
what types and bounds cannot say. Fields are looked at one by one in the order of the model, which is the contract's.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, TypeVar

import msgspec

from reflecto.contract.errors import INVALID_JSON, ApiError, ErrorSpec
from reflecto.contract.visibility import seen_of

M = TypeVar("M", bound="Request")


def is_not_blank(text: str) -> bool:
    """Tell whether there is anything to read in it."""
    return seen_of(text) != ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request body. Unknown fields are ignored."""

    field_errors: ClassVar[Mapping[str, ErrorSpec]] = {}
    field_checks: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}


def decode_request(model: type[M], body: bytes) -> M:
    """Read `body` as one JSON object and return it as `model`.

    Refused with `invalid_json`: anything but strict UTF-8 JSON, duplicate keys, lone surrogates, NaN,
    numbers beyond 64 bits and nesting deeper than the parser allows. A whole number may be written 600.0.

    Raises: ApiError with the code of the first offending field.
    """
    return build_request(model, parse_object(body))


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
        msgspec.json.decode(body)  # strict where json.loads is not: encoding, surrogates, NaN, number range
        parsed = json.loads(body, object_pairs_hook=_unique_pairs, parse_float=_whole_if_possible)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        raise ApiError(INVALID_JSON) from None
    if not isinstance(parsed, dict):
        raise ApiError(INVALID_JSON)
    return parsed


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate key")
    return fields


def _whole_if_possible(digits: str) -> int | float:
    number = float(digits)
    return int(number) if number.is_integer() else number


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
