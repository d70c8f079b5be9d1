"""One connection: uvicorn's, with bounds on what a client can make it hold and for how long.

uvicorn stops reading while a body is not taken, but a request line, a header, a trailer or a chunk's extension may grow
without end in its parser, and nothing ends a request that never becomes whole.
"""

from asyncio import BaseTransport, TimerHandle
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

FRAMING_MAX_BYTES: Final = 65_536  # of a request, beside its body; our clients send less than 1 KB
REQUEST_SECONDS: Final = 30  # from the first byte (or the connection) to the last; 64 KB at 20 kbit/s

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"  # RFC 6585 5
)


class Connection(HttpToolsProtocol):
    """Give it to uvicorn as its `http`."""

    _framing_bytes = 0  # received of the request so far, without its body
    _receiving = False  # between the first byte of a request and its last
    _deadline: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Expect a request."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._cancel_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, then refuse what has grown too large."""
        self._framing_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._framing_bytes > FRAMING_MAX_BYTES:
            self._refuse()
        elif self._receiving or self._framing_bytes:
            self._start_deadline()

    def on_message_begin(self) -> None:
        """Note it."""
        self._receiving = True
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """Bodies have bounds of their own, where they are read."""
        self._framing_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._receiving = False
        self._framing_bytes = 0
        self._cancel_deadline()
        super().on_message_complete()

    def shutdown(self) -> None:
        """End once the reply is out; at once where the client is what would be waited for."""
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
