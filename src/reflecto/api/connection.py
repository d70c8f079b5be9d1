"""One connection: uvicorn's, with bounds on what a client can make it hold and for how long.

uvicorn stops reading while a body is not taken, but a request line, a header, a trailer or a chunk's extension may grow
without end in its parser, and nothing ends a request that never becomes whole.
"""

from asyncio import BaseTransport, TimerHandle
from typing import Any, Final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from reflecto.api.connection_room import TOLD_MAX, ConnectionRoom
from reflecto.api.errors import reply_parts
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import UNAVAILABLE

FRAMING_MAX_BYTES: Final = 65_536  # of a request, beside its body; our clients send less than 1 KB
REQUEST_SECONDS: Final = 30  # from the first byte (or the connection) to the last; 64 KB at 20 kbit/s

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"  # RFC 6585 5
)
FULL_RETRY_AFTER_SECONDS: Final = 5


def _full_reply() -> bytes:
    error = ApiError(UNAVAILABLE, "The server has no room for another connection")
    body = msgspec.json.encode(reply_parts(error)[1])
    head = (
        "HTTP/1.1 503 Service Unavailable",
        "connection: close",
        f"retry-after: {FULL_RETRY_AFTER_SECONDS}",
        "content-type: application/json",
        f"content-length: {len(body)}",
    )
    return "\r\n".join([*head, "", ""]).encode() + body


_FULL: Final = _full_reply()


class Connection(HttpToolsProtocol):
    """Give it to uvicorn as its `http`; without a `room` there may be any number of them."""

    def __init__(self, *args: Any, room: ConnectionRoom | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._room = room

    _is_one_too_many = False
    _framing_bytes = 0  # received of the request so far, without its body
    _receiving = False  # between the first byte of a request and its last
    _deadline: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Start the deadline of the first request; a connection beyond the room is refused, or cut off unheard."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows asyncio's signature
        self._start_deadline()
        excess = self._room.excess(len(self.connections)) if self._room else 0
        self._is_one_too_many = excess > 0
        if excess > TOLD_MAX:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the deadline, and make room for another connection."""
        self._cancel_deadline()
        super().connection_lost(exc)
        if self._room:
            self._room.lost(len(self.connections))

    def data_received(self, data: bytes) -> None:
        """Parse the bytes; a request line and headers above FRAMING_MAX_BYTES are refused."""
        if self._is_one_too_many:
            if not self.transport.is_closing():
                self.transport.write(_FULL)
                self.transport.close()
            return
        self._framing_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._framing_bytes > FRAMING_MAX_BYTES:
            self._refuse()
        elif self._receiving or self._framing_bytes:
            self._start_deadline()

    def on_message_begin(self) -> None:
        """A request has begun: closing must not wait for its end."""
        self._receiving = True
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """Leave a body's bytes out of the count: `Call.stream` bounds them."""
        self._framing_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request has come whole: its deadline ends."""
        self._receiving = False
        self._framing_bytes = 0
        self._cancel_deadline()
        super().on_message_complete()

    def shutdown(self) -> None:
        """Close once the reply is sent, and at once where the client still sends its request or does not read."""
        if self._receiving or self.flow.write_paused:
            self.transport.abort()
        else:
            super().shutdown()

    def _refuse(self) -> None:
        if self._is_replying():
            self.transport.abort()
        else:
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self._receiving or not self._is_replying():  # else stray bytes behind a request that waits for its reply
            self.transport.abort()

    def _is_replying(self) -> bool:
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete
