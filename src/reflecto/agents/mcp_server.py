"""The tools as a server of the MCP SDK, whichever transport it is then run on. Source: spec 2025-11-25, 2026-07-28."""

import logging
from collections.abc import Callable
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from reflecto.agents.kept_questions import QuestionKeeper
from reflecto.agents.mcp_tools import INSTRUCTIONS, TOOLS, Tool
from reflecto.agents.tool_calls import Caller, ToolCall
from reflecto.agents.tool_models import schema_of
from reflecto.agents.tool_wait import Report, WaitClock
from reflecto.client.errors import ReflectoError
from reflecto.version import version

Context = ServerRequestContext[dict[str, Any], Any]
_BY_NAME: Final = {tool.name: tool for tool in TOOLS}

# They tell of each request at INFO, and what the SDK warns of may be about what is asked.
logging.getLogger("mcp").setLevel(logging.ERROR)
logging.getLogger("httpx").setLevel(logging.WARNING)


def build_server(
    caller_of: Callable[[Context], Caller], clock: WaitClock, keeper_of: Callable[[Context], QuestionKeeper]
) -> Server[dict[str, Any]]:
    """Return the server. `caller_of` tells who makes a request, `keeper_of` where questions of it are kept."""
    advertised = advertised_tools()

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=advertised)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}")
        try:
            arguments = msgspec.convert(params.arguments or {}, tool.takes)
            call = ToolCall(caller_of(context), _reporter(context), clock, keeper_of(context))
            result = await tool.run(call, arguments)
        except msgspec.ValidationError as error:
            return _failure("invalid_arguments", str(error))
        except ReflectoError as error:
            return _failure(error.code, str(error))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=msgspec.json.encode(result).decode())],
            structured_content=None if tool.only_text else msgspec.to_builtins(result),
        )

    return Server(
        "reflecto",
        title="Reflecto",
        version=version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def advertised_tools() -> list[types.Tool]:
    """Return what an agent is told of each tool."""
    return [_advertise(tool) for tool in TOOLS]


def _advertise(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.takes),
        output_schema=None if tool.only_text else schema_of(tool.gives),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _reporter(context: Context) -> Report:
    """Return a function that reports progress if the client asked for it. A report must be higher than the last one."""
    latest = -1.0

    async def report(seconds: float, message: str) -> None:
        nonlocal latest
        if seconds > latest:
            latest = seconds
            await context.session.report_progress(seconds, None, message)

    return report


def _failure(code: str, message: str) -> types.CallToolResult:
    """Return an error that the agent reads: none of them is an approval."""
    text = f"{code}: {message}. Nothing was approved."
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
