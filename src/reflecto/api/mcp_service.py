"""The MCP service behind `/mcp`. A tool calls the server's own API, in process, with the caller's token and address.

So each call passes the gates, limits and checks that it would pass from outside, and there is one way in.
"""

import asyncio
from typing import Final, cast

import httpx
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive

from reflecto.agents.kept_questions import KeptQuestions, QuestionKeeper
from reflecto.agents.mcp_server import Context, build_server
from reflecto.agents.tool_calls import Caller
from reflecto.api.http import Call
from reflecto.api.mcp_exchanges import Exchanges, McpCaller
from reflecto.api.mcp_unread import SharedQuestions
from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import AnswerTimeout
from reflecto.contract.limits import MCP_BODY_MAX_BYTES
from reflecto.core.clock import Clock
from reflecto.core.ports.unread import UnreadQuestions
from reflecto.core.ports.wakeups import Wakeups

_RETRY_SECONDS: Final = 5.0  # a store that is busy or full; the agent is told soon
_CALLER_KEY: Final = "reflecto.caller"  # in the ASGI scope
_ROUTER_KEY: Final = "router"  # where starlette puts the app that routed the request


class McpService:
    """Serves requests between `start` and `close`, each on its own: a restart in between is not noticed.

    `unread` is where several processes keep questions whose results were lost; None: this is the only one.
    """

    def __init__(
        self, wakeups: Wakeups, clock: Clock, closed: asyncio.Event, unread: UnreadQuestions | None = None
    ) -> None:
        self._wait_clock = _ServerTime(clock, closed)
        own = KeptQuestions(self._wait_clock.pause)
        self._kept_questions = own if unread is None else SharedQuestions(unread, clock, closed)
        self._exchanges = Exchanges(wakeups)
        self._manager = StreamableHTTPSessionManager(
            build_server(self._caller_of, self._wait_clock, self._keeper_of),
            stateless=True,
            # No check of Host and Origin: a page that a browser was lured to has no token, and no ambient one exists.
            security_settings=None,
            max_request_body_size=MCP_BODY_MAX_BYTES,
        )
        self._running: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def start(self) -> None:
        """Begin to serve, in a task of its own: what the SDK opens has to be closed by the task that opened it."""
        started = asyncio.Event()
        self._running = asyncio.create_task(self._run(started))
        await started.wait()

    async def close(self) -> None:
        """Withdraw the questions whose answer nobody would read any more, and end."""
        await self._kept_questions.close()
        self._ending.set()
        if self._running is not None:
            await self._running

    async def handle(self, call: Call, caller: McpCaller, body: bytes) -> None:
        """Answer one MCP request of `caller`; `body` is all of it, already read."""
        scope = {**call.scope, _CALLER_KEY: caller}
        with self._exchanges.open(call, caller.token_id, body) as exchange:
            await self._manager.handle_request(scope, _replaying(body, call.receive), exchange.send)
        await exchange.end()

    async def _run(self, started: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await self._ending.wait()

    def _keeper_of(self, context: Context) -> QuestionKeeper:
        if isinstance(self._kept_questions, KeptQuestions):
            return self._kept_questions
        caller: McpCaller = cast("Request", context.request).scope[_CALLER_KEY]
        return self._kept_questions.of_token(caller.token)

    def _caller_of(self, context: Context) -> Caller:
        scope = cast("Request", context.request).scope
        caller: McpCaller = scope[_CALLER_KEY]
        api: ASGIApp = scope[_ROUTER_KEY]
        transport = httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(caller.address, 0))
        client = AsyncReflecto(  # never closed, for it holds no connection
            "http://in-process",
            caller.token,
            retry_for=_RETRY_SECONDS,
            transport=transport,
            clock=self._wait_clock.now,
            sleep=self._wait_clock.pause_or_stop,
        )
        return Caller(caller.token_id, client)


class _ServerTime:
    """`tool_wait.WaitClock` by the server's clock, until the server begins to stop."""

    def __init__(self, clock: Clock, closed: asyncio.Event) -> None:
        self._clock = clock
        self._closed = closed

    @property
    def is_stopping(self) -> bool:
        return self._closed.is_set()

    def now(self) -> float:
        return self._clock.now()

    async def pause(self, seconds: float) -> None:
        await self._clock.wait(self._closed, self._clock.now() + seconds)

    async def pause_or_stop(self, seconds: float) -> None:
        """Pause between two tries or polls.

        Raises: AnswerTimeout where the server stops, which no longer holds polls back.
        """
        await self.pause(seconds)
        if self.is_stopping:
            raise AnswerTimeout("the server is stopping; the question is still open")


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return an ASGI `receive` that gives the whole body first, then what the connection brings."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
