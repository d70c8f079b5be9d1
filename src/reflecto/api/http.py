"""One request and one reply on bare ASGI: what every endpoint reads with and answers with."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope, Send

from reflecto.api.errors import reply_parts
from reflecto.api.long_bodies import work_on
from reflecto.api.traffic import NO_METHOD, note_route, note_wait
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import (
    INTERNAL_ERROR,
    INVALID_WAIT,
    METHOD_NOT_ALLOWED,
    OUTCOME_UNKNOWN,
    PAYLOAD_TOO_LARGE,
    UNAVAILABLE,
    UNSUPPORTED_MEDIA_TYPE,
)
from reflecto.contract.limits import JSON_BODY_MAX_BYTES, QUERY_FIELDS_MAX, WAIT_MAX_SECONDS
from reflecto.contract.wire import M, decode_request
from reflecto.core.ports.store import OutcomeUnknownError, StoreUnavailableError

STORE_RETRY_AFTER_SECONDS: Final = 5
LINGER_SECONDS: Final = 2  # for the rest of a body that is too large, thrown away as it comes
LINGER_MAX_BYTES: Final = 1_048_576
BODY_IS_READ: Final = "reflecto.body_is_read"  # in a request's scope

logger = logging.getLogger(__name__)


class ClientDisconnectedError(Exception):
    """The client went away before its request was whole; nobody is left to answer."""


class Reply(msgspec.Struct, frozen=True):
    """What to answer: a status, a body to be written as JSON (None: no body), further headers."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Call(msgspec.Struct, frozen=True):
    """One request: its ASGI scope, and what reads its body and sends its reply."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def path_params(self) -> Mapping[str, str]:
        """The values of the variable parts of the path, by name."""
        params: Mapping[str, str] = self.scope["path_params"]
        return params

    @property
    def client_address(self) -> str:
        """The IP address of the client, or of a proxy that is not trusted; `unknown` without a socket."""
        client = self.scope.get("client")
        return str(client[0]) if client else "unknown"

    def header(self, name: bytes) -> str | None:
        """Return the first header of this name (in lower case) as Latin-1, None where there is none."""
        for each, value in self.scope["headers"]:
            if each == name:
                return str(value.decode("latin-1"))
        return None

    def query(self, name: str) -> str | None:
        """Return the last value of a query parameter; of a query too long for any caller only the beginning counts."""
        fields = self.scope["query_string"].split(b"&", QUERY_FIELDS_MAX)[:QUERY_FIELDS_MAX]
        values = parse_qs(b"&".join(fields).decode("latin-1"), keep_blank_values=True).get(name)
        return values[-1] if values else None

    def wait_seconds(self) -> int:
        """Return how long a long poll may take, 0 where the query does not say. Raises: ApiError `invalid_wait`."""
        given = self.query("wait")
        if given is None:
            return 0
        if not (given.isascii() and given.isdigit() and len(given) <= 4 and int(given) <= WAIT_MAX_SECONDS):
            raise ApiError(INVALID_WAIT)
        if int(given):
            note_wait(self.scope)
        return int(given)

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; empty where there is none."""
        return (self.header(b"content-type") or "").partition(";")[0].strip().lower()

    @property
    def _encodings(self) -> set[bytes]:
        """What the body was put through, in lower case, of every such header."""
        given = b",".join(value for name, value in self.scope["headers"] if name == b"content-encoding")
        return {each.strip().lower() for each in given.split(b",")}

    async def json(self, model: type[M], max_bytes: int = JSON_BODY_MAX_BYTES) -> M:
        """Return the body as `model`; a missing Content-Type is read as JSON. Raises: ApiError."""
        if self.media_type not in {"", "application/json"}:
            raise ApiError(UNSUPPORTED_MEDIA_TYPE)
        return await work_on(await self.read_body(max_bytes), partial(decode_request, model))

    async def read_body(self, max_bytes: int) -> bytes:
        """Return the whole body. Raises: as `stream`."""
        return b"".join([chunk async for chunk in self.stream(max_bytes)])

    async def stream(self, max_bytes: int) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes; stop reading at `max_bytes`, whatever Content-Length says.

        Raises: ApiError `unsupported_media_type` where it is compressed, `payload_too_large`; ClientDisconnectedError.
        """
        if self._encodings - {b"", b"identity"}:
            raise ApiError(UNSUPPORTED_MEDIA_TYPE, "Send the body uncompressed, without Content-Encoding")
        announced = self.header(b"content-length")
        if announced is not None and announced.isdigit() and int(announced) > max_bytes:
            raise ApiError(PAYLOAD_TOO_LARGE, details={"size": int(announced), "max": max_bytes})
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnectedError
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > max_bytes:
                raise ApiError(PAYLOAD_TOO_LARGE, details={"size": size, "max": max_bytes})
            is_last = not message.get("more_body", False)
            if is_last:
                self.scope[BODY_IS_READ] = True
            yield chunk
            if is_last:
                return

    async def answer(self, reply: Reply) -> None:
        """Send the reply, its body as JSON, never to be cached."""
        body = b"" if reply.body is None else msgspec.json.encode(reply.body)
        closes = reply.headers.get("connection") == "close" and not self.scope.get(BODY_IS_READ)
        headers = [
            (name.encode(), value.encode("latin-1"))
            for name, value in reply.headers.items()
            if name != "connection" or closes
        ]
        headers.append((b"cache-control", b"no-store"))
        if reply.body is not None:
            headers.append((b"content-type", b"application/json"))
        if reply.status != 204:  # RFC 9110 8.6: none with 204
            headers.append((b"content-length", str(len(body)).encode()))
        await self.send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if closes:
            await self.send({"type": "http.response.body", "body": body, "more_body": True})
            await self._linger()
            body = b""
        await self.send({"type": "http.response.body", "body": body})

    async def _linger(self) -> None:
        """Take some more of the body, for to close on a client that still sends would reset the connection.

        A reset throws away what the client has not read yet: the reply that tells it why.
        """
        size = 0
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while size < LINGER_MAX_BYTES:
                    message = await self.receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body", False):  # the end, or the client has gone
                        return
        except TimeoutError:
            pass


Handler = Callable[[Call], Awaitable[Reply | None]]


class Endpoint:
    """One path as an ASGI app: a handler per method. A handler that streams sends by itself and returns None.

    `route` is what its requests are counted as. `shape` may put a reply, errors included, into another API's form.
    """

    def __init__(
        self, route: str, *, shape: Callable[[Reply], Reply] = lambda reply: reply, **handlers: Handler
    ) -> None:
        self._route = route
        self._shape = shape
        self._handlers = handlers
        if "GET" in handlers:
            self._handlers.setdefault("HEAD", handlers["GET"])
        self._allow = ", ".join(self._handlers)

    @property
    def methods(self) -> frozenset[str]:
        """The HTTP methods it answers; any other gets 405."""
        return frozenset(self._handlers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what its handler raises becomes an error reply, 500 if nothing else."""
        call = Call(scope, receive, send)
        method: str = scope["method"]
        handler = self._handlers.get(method, self._refuse_method)
        note_route(scope, self._route, method if method in self._handlers else NO_METHOD)
        try:
            reply = await handler(call)
        except ClientDisconnectedError:
            return
        except ApiError as error:
            reply = Reply(*reply_parts(error))
        except StoreUnavailableError as error:
            spec = OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknownError) else UNAVAILABLE
            reply = Reply(*reply_parts(ApiError(spec, retry_after_seconds=STORE_RETRY_AFTER_SECONDS)))
        except Exception:
            logger.exception("%s failed", scope["method"])
            reply = Reply(*reply_parts(ApiError(INTERNAL_ERROR)))
        if reply is not None:
            await call.answer(self._shape(reply))

    async def _refuse_method(self, _call: Call) -> Reply:
        status, body, headers = reply_parts(ApiError(METHOD_NOT_ALLOWED))
        return Reply(status, body, {**headers, "allow": self._allow})
