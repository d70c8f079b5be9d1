"""A message's body in each of its forms, as the fields of one model. Source: api.md "POST /v1/send"."""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from reflecto.api.http import Call
from reflecto.api.long_bodies import work_on
from reflecto.api.multipart import MultipartFields
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_ACTION, INVALID_BODY, UNSUPPORTED_MEDIA_TYPE
from reflecto.contract.json_bodies import without_mark
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.limits import FORM_FIELDS_MAX, PICTURE_MAX_BYTES, SEND_BODY_MAX_BYTES
from reflecto.contract.wire import M, build_request, parse_object


async def read_fields(call: Call, model: type[M]) -> tuple[Mapping[str, Any], bool]:
    """Return the fields of the body, and whether their values are typed (JSON) or text (a form).

    Raises: ApiError `unsupported_media_type`, `payload_too_large`, `invalid_json`, `invalid_body`.
    """
    media_type = call.media_type
    if media_type not in {
        "",
        "text/plain",
        "text/markdown",
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    }:
        raise ApiError(UNSUPPORTED_MEDIA_TYPE, "Content-Type must be JSON, a form or text/plain")
    known = {field.encode_name for field in msgspec.structs.fields(model)}
    if media_type == "multipart/form-data":
        return await _read_multipart(call, known), False
    body = await call.read_body(SEND_BODY_MAX_BYTES)
    if media_type == "application/json":
        return await work_on(body, parse_object), True
    if media_type == "application/x-www-form-urlencoded" and _names_a_field(body, known):
        return _unique(_parse_urlencoded(body)), False
    return {"message": _decode(without_mark(body))}, True


def message_of(model: type[M], fields: Mapping[str, Any], *, typed: bool) -> M:
    """Return the fields as `model`. In a form an empty field counts as absent, tags and actions are text.

    Raises: ApiError with the code of the first offending field.
    """
    if typed:
        return build_request(model, fields)
    given = {name: value for name, value in fields.items() if value != "" or name == "message"}
    if isinstance(given.get("tags"), str):
        given["tags"] = given["tags"].split(",")
    if isinstance(given.get("actions"), str):
        try:
            given["actions"] = read_json(given["actions"], list[Any])
        except UnreadableJsonError:
            raise ApiError(INVALID_ACTION) from None
    return build_request(model, given, strict=False)


def _names_a_field(body: bytes, known: set[str]) -> bool:
    """Tell a form from curl's `-d "text"`, which announces one: a known name stands before some `=`."""
    parts = (part.partition(b"=") for part in without_mark(body).split(b"&"))
    return any(equals and name.decode("latin-1").strip() in known for name, equals, _ in parts)


def _parse_urlencoded(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            without_mark(body).decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=FORM_FIELDS_MAX
        )
    except ValueError:  # not UTF-8, or too many fields
        raise ApiError(INVALID_BODY) from None


async def _read_multipart(call: Call, known: set[str]) -> dict[str, Any]:
    """Return the text fields; a part of another name, such as a picture, is dropped as it comes and is True here."""
    form = MultipartFields(call.header(b"content-type") or "", known, SEND_BODY_MAX_BYTES)
    async with aclosing(call.stream(PICTURE_MAX_BYTES + SEND_BODY_MAX_BYTES)) as chunks:
        async for chunk in chunks:
            form.write(chunk)
    given = _unique((name, _decode(without_mark(value))) for name, value in form.finish())
    return {**dict.fromkeys(form.passed_over, True), **given}


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the fields; `tags` may repeat, anything else given twice is ambiguous."""
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name not in fields:
            fields[name] = value
        elif name == "tags":
            fields[name] += "," + value
        else:
            raise ApiError(INVALID_BODY, f"The field {name[:40]!r} is given twice")
    return fields


def _decode(body: bytes) -> str:
    if b"\0" in body:  # no text has one, but UTF-16 without its mark has, and would pass for UTF-8
        raise ApiError(INVALID_BODY)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError(INVALID_BODY) from None
