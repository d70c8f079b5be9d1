"""Tool calls that run beside a test, and what came of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.fakes import BOUND_SECONDS, FakeClock

QUESTION: Final = {"question": "Drop table users?"}


def content(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a call that did not fail."""
    assert not result.is_error, result.content
    structured: dict[str, Any] | None = result.structured_content
    assert structured is not None
    return structured


def error_text(result: CallToolResult) -> str:
    """Return what a call that failed tells the agent."""
    assert result.is_error, result
    [text] = result.content
    assert isinstance(text, TextContent)
    return text.text


class Progress:
    """What a client is told while it waits."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, float | None, str | None]] = []

    async def take(self, progress: float, total: float | None, message: str | None) -> None:
        """Be a client's progress callback."""
        self.reports.append((progress, total, message))


@asynccontextmanager
async def calling(
    client: Client, tool: str, arguments: dict[str, Any], **options: Any
) -> AsyncIterator["asyncio.Task[CallToolResult]"]:
    """Run a call beside the test, which bounds it."""
    call = asyncio.create_task(client.call_tool(tool, arguments, **options))
    try:
        async with asyncio.timeout(BOUND_SECONDS):
            yield call
    finally:
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


async def hold_to_the_end(clock: FakeClock) -> None:
    """Let the 50 seconds pass for which a call is held, in the steps in which the tool looks up."""
    for instant in (clock.now() + 20, clock.now() + 40, clock.now() + 50):
        await clock.until_waited_for(instant)
        clock.advance_to(instant)
