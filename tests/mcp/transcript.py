"""What goes over the wire when an agent asks and a phone answers: the transcript in docs/agents.md.

`python -m tests.mcp.transcript` prints it. Client, server and protocol are real; time is the test's, so that 50 seconds
pass at once. Left out is what differs at each run, or says the same as before.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from tests.actors import enroll
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.mcp.calling import Progress, calling, hold_to_the_end
from tests.mcp.tapping import Person
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync

ASKED = {"question": "Drop table users on db1? It has 48,112 rows and no backup.", "choices": ["Drop it", "Keep it"]}
WIDTH = 118


class Recorded:
    """One direction of a transport, whose messages are told to `tell`."""

    def __init__(self, stream: Any, tell: Callable[[dict[str, Any]], None]) -> None:
        self._stream = stream
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._stream.__aexit__(*exception)

    def __aiter__(self) -> "Recorded":
        return self

    async def __anext__(self) -> Any:
        item = await self._stream.__anext__()
        self._note(item)
        return item

    async def send(self, item: Any) -> None:
        self._note(item)
        await self._stream.send(item)

    def _note(self, item: Any) -> None:
        if isinstance(item, SessionMessage):
            self._tell(item.message.model_dump(by_alias=True, exclude_none=True))


class Transcript:
    """Lines, each of somebody."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def agent(self, message: dict[str, Any]) -> None:
        """Note a call of a tool."""
        if message.get("method") == "tools/call":
            params = message["params"]
            self._add("agent", {"method": "tools/call", "params": {key: params[key] for key in ("name", "arguments")}})

    def server(self, message: dict[str, Any]) -> None:
        """Note progress, and what a tool returned."""
        if message.get("method") == "notifications/progress":
            params = message["params"]
            self._add("server", {"progress": int(params["progress"]), "message": params["message"]})
        elif structured := message.get("result", {}).get("structuredContent"):
            told = {key: value for key, value in structured.items() if value is not None and value is not False}
            self._add("server", {"structuredContent": told})

    def phone(self, text: str) -> None:
        """Note what happens on the phone."""
        self.lines.append(f"phone   {text}")

    def _add(self, who: str, message: dict[str, Any]) -> None:
        text = re.sub(r"int_[0-9a-f]{32}", "int_…", json.dumps(message, ensure_ascii=False))
        line = f"{who:<8}"
        for word in text.split(" "):
            if len(line) + len(word) > WIDTH:
                self.lines.append(line.rstrip())
                line = " " * 10
            line += word + " "
        self.lines.append(line.rstrip())


@asynccontextmanager
async def recorded(server: RunningServer, token: str, transcript: Transcript) -> AsyncIterator[Client]:
    """Connect a client whose messages are noted."""

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=BOUND_SECONDS, trust_env=False) as http,
            streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http) as (reading, writing),
        ):
            yield Recorded(reading, transcript.server), Recorded(writing, transcript.agent)

    async with Client(transport(), mode="legacy") as client:
        yield client


async def make_transcript(folder: Path) -> str:
    """Ask, let 50 seconds pass, go on waiting, tap; return what was said."""
    transcript, clock = Transcript(), FakeClock()
    async with run_server(folder, clock) as server:
        phone = await enroll(server)
        async with open_sync(phone) as stream, recorded(server, phone.default_program().token, transcript) as client:
            person, progress = Person(phone, stream), Progress()
            await person.sees("token.created")
            async with calling(client, "ask_user", ASKED, progress_callback=progress.take) as call:
                prompt = await person.sees()
                await clock.until_waited_for(clock.now() + 20)
                transcript.phone(f"shows: {prompt.payload['question']}  [{'] ['.join(prompt.payload['choices'])}]")
                await hold_to_the_end(clock)
                await call
            async with calling(client, "wait_for_answer", {"id": prompt.id}) as call:
                await clock.until_waited_for(clock.now() + 20)
                transcript.phone("tap on Keep it; signed, stored")
                await person.taps(prompt, 1)
                await call
    return "\n".join(transcript.lines) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.stdout.write(asyncio.run(make_transcript(Path(scratch))))
