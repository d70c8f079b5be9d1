"""`/mcp`: the agents' tools over streamable HTTP, each request with its own bearer token.

The MCP library takes longer to import than the server to start. So it is imported at the first call, in a thread.
"""

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from reflecto.api.auth import bearer_of
from reflecto.api.http import Call
from reflecto.api.long_bodies import work_on
from reflecto.api.mcp_exchanges import McpCaller
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_JSON, NOT_FOUND, UNAVAILABLE
from reflecto.contract.json_bodies import UnusableJsonError, check_values, decoded
from reflecto.contract.limits import MCP_BODY_MAX_BYTES
from reflecto.core.clock import Clock
from reflecto.core.ports.unread import UnreadQuestions
from reflecto.core.ports.wakeups import Wakeups
from reflecto.core.sender import Sender

if TYPE_CHECKING:
    from reflecto.api.mcp_service import McpService


class McpEndpoint:
    """Answers calls of /mcp. `closed` is set when the server begins to stop: held calls then return what they know."""

    def __init__(
        self, wakeups: Wakeups, clock: Clock, closed: asyncio.Event, unread: UnreadQuestions | None = None
    ) -> None:
        self._wakeups = wakeups
        self._unread = unread
        self._clock = clock
        self._closed = closed
        self._starting: asyncio.Task[McpService] | None = None

    async def close(self) -> None:
        """Withdraw what was asked here and is read by nobody; nothing comes afterwards."""
        if self._starting is not None:
            await asyncio.wait([self._starting])
            if self._starting.exception() is None:
                await self._starting.result().close()

    async def answer(self, call: Call, sender: Sender) -> None:
        """Answer one call. Raises: ApiError `not_found`, `unavailable`, `invalid_json`, `payload_too_large`."""
        if find_spec("mcp") is None:
            raise ApiError(NOT_FOUND, "This server speaks no MCP: it was installed without the extra [mcp]")
        if self._closed.is_set():
            raise ApiError(UNAVAILABLE, "The server is stopping", retry_after_seconds=1)
        body = await call.read_body(MCP_BODY_MAX_BYTES)
        await work_on(body, _check)
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        service = await asyncio.shield(self._starting)  # one client that goes away does not end it
        await service.handle(call, McpCaller(sender.token.id, bearer_of(call), call.client_address), body)

    async def _start(self) -> "McpService":
        module = await asyncio.to_thread(import_module, "reflecto.api.mcp_service")
        service: McpService = module.McpService(self._wakeups, self._clock, self._closed, self._unread)
        await service.start()
        return service


def _check(body: bytes) -> None:
    """Refuse what would keep the SDK busy for long; what else is wrong it tells itself. Raises: ApiError."""
    try:
        check_values(decoded(body))
    except UnusableJsonError as error:
        raise ApiError(INVALID_JSON, f"{INVALID_JSON.message}; this one {error}") from None
