"""Which requests to `/mcp` are being answered, so that an agent's notice of cancellation ends the right one.

Up to the protocol of 2025-11-25 that notice is a request of its own, which names the cancelled one by a number that
only means something within a session. So `initialize` hands out a session id. It says which numbers belong together,
and nothing else: no state hangs on it, none is checked, and it outlives restarts. Later protocols close the connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import anyio
import msgspec
from starlette.types import Message, Send

from reflecto.api.http import Call
from reflecto.contract.json_text import UnreadableJsonError, read_json

SESSION_HEADER: Final = b"mcp-session-id"
_SESSION_MAX_CHARS: Final = 100  # ours have 32

Key = tuple[str, str, str]  # token id, session id, the request's id within it


@dataclass(frozen=True, slots=True)
class McpCaller:
    """Whose request it is: with this token, from this address, a tool calls the API."""

    token_id: str
    token: str = field(repr=False)
    address: str


class _Params(msgspec.Struct):
    request_id: Any = msgspec.field(name="requestId", default=None)


class _Rpc(msgspec.Struct):
    """As much of a JSON-RPC message as matters here."""

    method: str = ""
    id: Any = None
    params: _Params = msgspec.field(default_factory=_Params)


class Exchange:
    """One request and its reply."""

    def __init__(self, send: Send, session_id: str | None = None) -> None:
        self._send = send
        self._session_id = session_id
        self._is_begun = self._is_over = False
        self.scope = anyio.CancelScope()

    async def send(self, message: Message) -> None:
        """Pass on a part of the reply."""
        if message["type"] == "http.response.start":
            self._is_begun = True
            if self._session_id is not None:
                session = (SESSION_HEADER, self._session_id.encode())
                message = {**message, "headers": [*message.get("headers", ()), session]}
        elif message["type"] == "http.response.body":
            self._is_over = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """End the reply of a request that was cancelled: nothing is told in it any more."""
        if self.scope.cancelled_caught and not self._is_over:
            if not self._is_begun:
                await self._send({"type": "http.response.start", "status": 202, "headers": []})
            await self._send({"type": "http.response.body", "body": b""})


class Exchanges:
    """All that are going on."""

    def __init__(self) -> None:
        self._open: dict[Key, Exchange] = {}

    @contextmanager
    def open(self, call: Call, token_id: str, body: bytes) -> Iterator[Exchange]:
        """Run the block as one exchange, which a later request with the same token and session may cancel."""
        rpc = _read(body)
        session = (call.header(SESSION_HEADER) or "")[:_SESSION_MAX_CHARS]
        exchange = Exchange(call.send, uuid4().hex if rpc.method == "initialize" else None)
        if session and rpc.method == "notifications/cancelled":
            self._cancel((token_id, session, repr(rpc.params.request_id)))
        key = (token_id, session, repr(rpc.id))
        if session and rpc.id is not None:
            self._open[key] = exchange
        try:
            with exchange.scope:
                yield exchange
        finally:
            if self._open.get(key) is exchange:
                del self._open[key]

    def _cancel(self, key: Key) -> None:
        if key in self._open:
            self._open[key].scope.cancel()


def _read(body: bytes) -> _Rpc:
    """Return what can be understood; the SDK tells the client what is wrong with the rest."""
    try:
        return read_json(body, _Rpc)
    except UnreadableJsonError:
        return _Rpc()
