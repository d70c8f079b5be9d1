"""The text fields of a multipart body, read as it comes: pictures and whatever else is not asked for take no memory.

Decoding is ours: starlette's form parser takes what is not UTF-8 for Latin-1, and decodes with any codec the client
names, such as `unicode_escape`, out of which come lone surrogates.
"""

from collections.abc import Set as AbstractSet
from typing import Final

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_BODY, PAYLOAD_TOO_LARGE

PARTS_MAX: Final = 64
NAME_KEPT_CHARS: Final = 40  # of a part that nobody asked for
_PLAIN_ENCODINGS: Final = frozenset({b"", b"7bit", b"8bit", b"binary"})


class Attachment(msgspec.Struct):
    """The file of the field `name`, kept up to `max_bytes`; of what is larger only that it came is known."""

    name: str
    max_bytes: int
    content: bytes | None = None
    is_too_large: bool = False


class MultipartFields:
    """Feed it the body with `write`; `fields` has the text fields among `known`, in their order, once it is whole.

    `passed_over` has the beginnings of the other parts' names.

    Each method raises ApiError `invalid_body`, or `payload_too_large` where those fields exceed `max_bytes`.
    """

    def __init__(
        self, content_type: str, known: AbstractSet[str], max_bytes: int, attachment: Attachment | None = None
    ) -> None:
        self.fields: list[tuple[str, bytes]] = []
        self.passed_over: list[str] = []
        self._attachment = attachment
        self._file: Attachment | None = None  # the part at hand is it
        self._known, self._max_bytes = known, max_bytes
        self._kept_bytes = self._parts = 0
        self._headers: dict[bytes, bytes] = {}
        self._header = [b"", b""]
        self._name: str | None = None  # of the part at hand, if it is to be kept
        self._value = bytearray()
        self._is_whole = False
        self._is_open = False  # within a part
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise ApiError(INVALID_BODY)
        self._end_mark = b"--" + boundary + b"--"
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": self._take_header_name,
                    "on_header_value": self._take_header_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": self._take_data,
                    "on_part_end": self._end_part,
                    "on_end": self._end,
                },
            )
        except FormParserError:
            raise ApiError(INVALID_BODY) from None

    def write(self, chunk: bytes) -> None:
        """Take some more of the body."""
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise ApiError(INVALID_BODY) from None

    def finish(self) -> list[tuple[str, bytes]]:
        """Return the fields, now that there is no more.

        npm's pushover-notifications 1.2 forgets the line break before the last boundary, which so ends a value.
        """
        if not self._is_whole:
            value, mark, _ = self._value.rpartition(self._end_mark)
            if not self._is_open or not mark:
                raise ApiError(INVALID_BODY)
            self._value = bytearray(value)
            self._end_part()
        return self.fields

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > PARTS_MAX:
            raise ApiError(INVALID_BODY, f"A form may have {PARTS_MAX} fields")
        self._headers = {}
        self._is_open = True

    def _take_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0] += data[start:end]

    def _take_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1] += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header[0].lower()] = self._header[1].strip()
        self._header = [b"", b""]

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        if self._headers.get(b"content-transfer-encoding", b"").lower() not in _PLAIN_ENCODINGS:
            raise ApiError(INVALID_BODY)  # RFC 7578 4.7: deprecated, and nobody sends it
        name = options.get(b"name", b"").decode("utf-8", errors="replace")
        is_file = b"filename" in options
        self._name = name if name in self._known and not is_file else None
        self._file = self._attachment if is_file and self._attachment and name == self._attachment.name else None
        if name not in self._known:
            self.passed_over.append(name[:NAME_KEPT_CHARS])
        self._value = bytearray()

    def _take_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._take_file(data[start:end], self._file)
            return
        if self._name is None:
            return
        self._kept_bytes += end - start
        if self._kept_bytes > self._max_bytes:
            raise ApiError(PAYLOAD_TOO_LARGE, details={"size": self._kept_bytes, "max": self._max_bytes})
        self._value += data[start:end]

    def _take_file(self, data: bytes, file: Attachment) -> None:
        if len(self._value) + len(data) > file.max_bytes:
            file.is_too_large = True
            self._value = bytearray()
        if not file.is_too_large:
            self._value += data

    def _end_part(self) -> None:
        self._is_open = False
        if self._name is not None:
            self.fields.append((self._name, bytes(self._value)))
        elif self._file is not None and not self._file.is_too_large:
            self._file.content = bytes(self._value)

    def _end(self) -> None:
        self._is_whole = True
