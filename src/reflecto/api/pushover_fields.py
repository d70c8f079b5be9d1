"""The fields of a call of Pushover's clients, in whatever form they come. Source: api.md "POST /v1/messages.json".

Nothing is refused that can be understood: such a client does not try again after a 4xx, and the alert would be lost.
Fields come in the query, in a form or as JSON; what a body says goes before the query, what comes later before what
came earlier. Bytes that are no UTF-8 are shown as such.
"""

import re
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

from reflecto.api.auth import Authenticator
from reflecto.api.http import STORE_RETRY_AFTER_SECONDS, Call
from reflecto.api.multipart import Attachment, MultipartFields
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_BODY, INVALID_JSON, MISSING_TOKEN, PAYLOAD_TOO_LARGE, UNAVAILABLE
from reflecto.contract.json_bodies import check_values, decoded, without_mark
from reflecto.contract.limits import IMAGE_MAX_BYTES, PICTURE_MAX_BYTES, PUSHOVER_BODY_MAX_BYTES, SEND_BODY_MAX_BYTES
from reflecto.contract.pushover import PushoverRequest
from reflecto.core.sender import Sender

FORM_FIELDS_MAX: Final = 64
ATTACHMENT_FIELD: Final = "attachment"
BASE64_FIELD: Final = "attachment_base64"
# Three characters for one where each is percent-encoded; a picture in more than that is too large.
BASE64_MAX_CHARS: Final = IMAGE_MAX_BYTES * 4 // 3 * 3 + 6_000  # and line breaks
BASE64_ESCAPES: Final = (
    *((b"%2B", b"+"), (b"%2F", b"/"), (b"%3D", b"="), (b"%0A", b""), (b"%0D", b"")),
    *((b"%2b", b"+"), (b"%2f", b"/"), (b"%3d", b"="), (b"%0a", b""), (b"%0d", b"")),
)
_PICTURE_KEY: Final = b'"attachment_base64"'
_PICTURE: Final = re.compile(_PICTURE_KEY + rb'\s*:\s*"')
JSON_MAX_BYTES: Final = SEND_BODY_MAX_BYTES * 6  # without a large picture: each byte \u-escaped
BLANK_MAX_BYTES: Final = 1_024  # before JSON that does not say that it is JSON
NAME_MAX_BYTES: Final = 64
# A character is up to four bytes, each of them percent-encoded in three; and some more, so that a cut is seen.
FORM_VALUE_MAX_BYTES: Final = {"message": 13_000, "title": 3_500, "url": 6_600, "url_title": 1_600, "callback": 6_600}
HELD_MAX_BYTES: Final = 64 * 1024 * 1024  # of large bodies that are being read at a time, by all clients together


class PushoverFields(msgspec.Struct, frozen=True):
    """The fields by name; `attachment`: the bytes of a file that came with them; `attachment_dropped`: too many."""

    values: dict[str, Any] = msgspec.field(default_factory=dict)
    attachment: bytes | None = None
    attachment_dropped: bool = False


class PushoverReader:
    """Reads the fields of Pushover's calls, from query, form, JSON or multipart alike."""

    def __init__(self) -> None:
        self._known = frozenset(field.encode_name for field in msgspec.structs.fields(PushoverRequest))
        self._raw = msgspec.defstruct("Raw", [(name, msgspec.Raw, msgspec.Raw()) for name in sorted(self._known)])
        self._held_bytes = 0

    async def read(self, call: Call) -> PushoverFields:
        """Return the fields of query and body.

        Raises: ApiError `invalid_json`, `invalid_body`, `payload_too_large`; `unavailable` while too many large bodies
        are being read.
        """
        query = self._parse_form(call.scope["query_string"])
        attachment = Attachment(ATTACHMENT_FIELD, IMAGE_MAX_BYTES)
        if call.media_type == "multipart/form-data":
            body = await self._read_multipart(call, attachment)
        else:
            body = await self._read_text(call)
        values = {name: value for name, value in {**query, **body}.items() if value is not None}
        too_long = values.get(BASE64_FIELD) == ""
        return PushoverFields(values, attachment.content, attachment.is_too_large or too_long)

    async def _read_multipart(self, call: Call, attachment: Attachment) -> dict[str, Any]:
        text_max = SEND_BODY_MAX_BYTES + BASE64_MAX_CHARS
        form = MultipartFields(call.header(b"content-type") or "", self._known, text_max, attachment)
        async with aclosing(call.stream(PICTURE_MAX_BYTES + text_max)) as chunks:
            async for chunk in chunks:
                form.write(chunk)
        return {name: _text_of(value) for name, value in form.finish()}

    async def _read_text(self, call: Call) -> dict[str, Any]:
        body = without_mark(await self._read_body(call))
        is_object = body[:BLANK_MAX_BYTES].lstrip()[:1] == b"{"
        if is_object or call.media_type == "application/json":
            return self._parse_json(body)
        if not body.strip():
            return {}
        # A body that names no field is the message itself, as everywhere messages are taken.
        return self._parse_form(body) or {"message": _text_of(body[:SEND_BODY_MAX_BYTES])}

    async def _read_body(self, call: Call) -> bytes:
        """Return the body. What has come of large ones is counted, not what may come: who only waits holds nothing."""
        chunks, size, held_bytes = [], 0, 0
        try:
            async with aclosing(call.stream(PUSHOVER_BODY_MAX_BYTES)) as coming:
                async for chunk in coming:
                    chunks.append(chunk)
                    size += len(chunk)
                    more_bytes = max(0, size - SEND_BODY_MAX_BYTES) - held_bytes
                    if more_bytes and self._held_bytes + more_bytes > HELD_MAX_BYTES:
                        raise ApiError(UNAVAILABLE, retry_after_seconds=STORE_RETRY_AFTER_SECONDS)
                    held_bytes += more_bytes
                    self._held_bytes += more_bytes
            return b"".join(chunks)
        finally:
            self._held_bytes -= held_bytes

    def _parse_json(self, body: bytes) -> dict[str, Any]:
        body, too_long = _without_long_picture(body)
        _require_decodable(body)
        try:
            check_values(decoded(body))
            raw = msgspec.structs.asdict(msgspec.json.decode(body, type=self._raw)) if body.strip() else {}
            values = {name: msgspec.json.decode(value) for name, value in raw.items() if bytes(value)}
        except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
            raise ApiError(INVALID_JSON) from None
        return {**values, BASE64_FIELD: ""} if too_long else values

    def _parse_form(self, body: bytes) -> dict[str, Any]:
        if body.count(b"&") >= FORM_FIELDS_MAX:
            raise ApiError(INVALID_BODY, f"A form may have {FORM_FIELDS_MAX} fields")
        values: dict[str, str] = {}
        end = -1
        while end < len(body):  # by positions: a part may have megabytes, and each copy of it takes time
            start = end + 1
            end = _position(body, b"&", start, len(body))
            equals = _position(body, b"=", start, min(end, start + NAME_MAX_BYTES))
            name = _unquoted(body[start:equals].lstrip())
            if name in self._known:
                values[name] = self._form_value(name, body, equals + 1, end)
        return values

    def _form_value(self, name: str, body: bytes, start: int, end: int) -> str:
        if name == BASE64_FIELD:
            if end - start > BASE64_MAX_CHARS:
                return ""
            value = body[start:end].strip()
            for escape, char in BASE64_ESCAPES:
                value = value.replace(escape, char)
            return "" if len(value) > BASE64_MAX_CHARS // 3 or b"%" in value else _text_of(value)
        # Decoding is slow, and holds up everybody: no more than what would not be cut off anyway.
        most = FORM_VALUE_MAX_BYTES.get(name, NAME_MAX_BYTES * 16)
        value = body[start : min(end, start + most)]
        return _unquoted(value.rstrip() if end == len(body) else value)


async def sender_of(auth: Authenticator, call: Call, values: Mapping[str, Any]) -> Sender:
    """Return the sender of the token among the fields. Raises: ApiError `missing_token`, `invalid_token`."""
    token = values.get("token")
    if not isinstance(token, str) or not token.strip():
        raise ApiError(MISSING_TOKEN, "token must be a sender token, rfk_live_…")
    return await auth.pushover_sender(call, token.strip())


def _without_long_picture(body: bytes) -> tuple[bytes, bool]:
    """Return JSON without a picture that is too large anyway, which is most of a body of megabytes; and whether."""
    found = _PICTURE.match(body, max(0, body.find(_PICTURE_KEY))) if len(body) > BASE64_MAX_CHARS else None
    if found is None:
        return body, False
    end = body.find(b'"', found.end())
    if end - found.end() <= BASE64_MAX_CHARS:
        return body, False
    return body[: found.end()] + body[end:], True


def _require_decodable(body: bytes) -> None:
    """Refuse JSON that is long even without its picture. Raises: ApiError `payload_too_large`."""
    if len(body) > JSON_MAX_BYTES:
        raise ApiError(PAYLOAD_TOO_LARGE, details={"size": len(body), "max": JSON_MAX_BYTES})


def _position(body: bytes, mark: bytes, start: int, end: int) -> int:
    found = body.find(mark, start, end)
    return end if found < 0 else found


def _unquoted(value: bytes) -> str:
    return _text_of(unquote_to_bytes(value.replace(b"+", b" ")))


def _text_of(value: bytes) -> str:
    return value.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\0", "\ufffd")
