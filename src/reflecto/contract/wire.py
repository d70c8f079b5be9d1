"""How wire models name the error of each field, and the one way raw JSON becomes a model.

A model's `field_errors` maps each field to the catalogue row that a bad value of it gets.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import msgspec

from reflecto.contract.errors import INVALID_JSON, ApiError, ErrorSpec

M = TypeVar("M", bound="Request")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request body. Unknown fields are ignored."""

    field_errors: ClassVar[dict[str, ErrorSpec]] = {}

    def check(self) -> None:
        """Check what types and bounds cannot say. Raises: ApiError."""


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
    for field in msgspec.structs.fields(model):
        if field.required and field.encode_name not in fields:
            raise ApiError(model.field_errors[field.encode_name])
    try:
        request = msgspec.convert(fields, model, strict=strict)
    except msgspec.ValidationError as error:
        raise ApiError(_spec_of(model, error)) from None
    request.check()
    return request


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


def _spec_of(model: type[Request], error: msgspec.ValidationError) -> ErrorSpec:
    path = re.search(r"`\$\.(\w+)", str(error))
    return model.field_errors.get(path[1], INVALID_JSON) if path else INVALID_JSON
