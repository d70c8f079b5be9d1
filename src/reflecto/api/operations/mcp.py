"""The agents' tools over streamable HTTP. Source: modelcontextprotocol.io."""

from __future__ import annotations

from typing import Final

from reflecto.api.callers import SENDER
from reflecto.api.operations.operation import Admitted, Operation
from reflecto.api.traffic import note_wait
from reflecto.core.sender import Sender


async def mcp(call: Admitted[Sender, None]) -> None:
    """Let the MCP service answer: it sends its reply itself."""
    note_wait(call.scope)  # some of the tools do, for minutes
    await call.use_cases.mcp.answer(call, call.caller)


# There is no GET and no DELETE: nothing is pushed to agents, and no session is kept.
MCP: Final = (Operation(method="POST", path="/mcp", caller=SENDER, handler=mcp, id="mcp"),)
