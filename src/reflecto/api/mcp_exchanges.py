"""Which requests to `/mcp` are being answered, so that an agent's notice of cancellation ends the right one.

Up to the protocol of 2025-11-25 that notice is a request of its own, which names the cancelled one by a number that
only means something within a session. So `initialize` hands out a session id. It says which numbers belong together,
and nothing else: no state hangs on it, none is checked, and it outlives restarts. Later protocols close the connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final
from uuid import uuid4

import anyio
import msgspec
from starlette.types import Message, Send

from reflecto.api.http import Call
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.secret_record import SecretRecord
from reflecto.core.ports.wakeups import News, Wakeups

SESSION_HEADER: Final = b"mcp-session-id"
_SESSION_MAX_CHARS: Final = 100  # ours have 32


class McpCaller(SecretRecord, frozen=True):
    """Whose request it is: with this token, from this address, a tool calls the API."""

    token_id: str
    token: str
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
        """Send an ASGI message of the reply; its start names the session."""
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
    """All that are going on. A notice that comes to another process of the server reaches its exchange too."""

    def __init__(self, wakeups: Wakeups) -> None:
        self._wakeups = wakeups

    @contextmanager
    def open(self, call: Call, token_id: str, body: bytes) -> Iterator[Exchange]:
        """Run the block as one exchange, which a later request with the same token and session may cancel."""
        rpc = _read(body)
        session = (call.header(SESSION_HEADER) or "")[:_SESSION_MAX_CHARS]
        exchange = Exchange(call.send, uuid4().hex if rpc.method == "initialize" else None)
        if session and rpc.method == "notifications/cancelled":
            self._wakeups.tell(News(cancelled_calls=[_name_of(token_id, session, rpc.params.request_id)]))
        is_named = session and rpc.id is not None
        name = _name_of(token_id, session, rpc.id)
        with self._wakeups.open_call(name, exchange.scope.cancel) if is_named else nullcontext(), exchange.scope:
            yield exchange


def _name_of(token_id: str, session: str, request_id: object) -> str:
    """Return what a call is known by: the request's id means something within its session only."""
    return f"{token_id}\n{session}\n{request_id!r}"


def _read(body: bytes) -> _Rpc:
    """Return what can be understood; the SDK tells the client what is wrong with the rest."""
    try:
        return read_json(body, _Rpc)
    except UnreadableJsonError:
        return _Rpc()
