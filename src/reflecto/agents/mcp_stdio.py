"""`reflecto mcp`: the tools over standard input and output, for an agent that starts this process."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Final

import anyio
from mcp.server.stdio import stdio_server

from reflecto.agents.asked_here import AskedHere
from reflecto.agents.kept_questions import KeptQuestions
from reflecto.agents.mcp_server import build_server
from reflecto.agents.tool_calls import Caller
from reflecto.client.aio import AsyncReflecto

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class _RealTime:
    """`tool_wait.WaitClock` of a process that ends only with its client."""

    is_stopping = False

    def now(self) -> float:
        return time.monotonic()

    async def pause(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def serve_stdio(url: str, token: str) -> None:
    """Serve one client until it closes standard input, or a signal ends the process.

    Either way, questions whose result did not reach the client are withdrawn. Raises: InvalidSettings.
    """
    clock = _RealTime()
    kept_questions = KeptQuestions(clock.pause)
    asked = AskedHere()
    async with AsyncReflecto(url, token) as client:
        server = build_server(lambda _: Caller("", client, str(Path.cwd()), asked), clock, lambda _: kept_questions)
        leaving = _leave_on_signals(kept_questions)
        try:
            async with stdio_server() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        finally:
            await kept_questions.close()
            del leaving


def _leave_on_signals(kept_questions: KeptQuestions) -> list[asyncio.Task[None]]:
    """End the process at a signal, once questions are withdrawn. The list keeps the task that does it.

    It ends at once, since a thread is blocked in reading standard input and no signal moves it.
    """
    leaving: list[asyncio.Task[None]] = []

    async def leave(number: int) -> None:
        try:
            await kept_questions.close()
        finally:
            os._exit(128 + number)

    def begin(number: int) -> None:
        if not leaving:
            leaving.append(asyncio.create_task(leave(number)))

    for number in _SIGNALS:
        try:
            asyncio.get_running_loop().add_signal_handler(number, begin, number)
        except NotImplementedError:  # Windows: the client closes standard input, or kills
            break
    return leaving
