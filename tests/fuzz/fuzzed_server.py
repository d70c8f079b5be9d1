"""A real server in a thread of its own, for a client that blocks: it counts its replies and its clock follows them."""

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reflecto.contract.devices import ANSWER_V2
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import RunningServer, run_server

R = TypeVar("R")

SECONDS_A_REQUEST: Final = 5  # of the fake clock: no limit per minute is ever reached, and questions expire
LONG_POLL_SECONDS: Final = 61


class Ledger:
    """ASGI middleware: counts replies by status, and moves the clock on with each request."""

    def __init__(self, clock: FakeClock) -> None:
        self.replies: Counter[int] = Counter()
        self._clock = clock

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return the app behind this ledger."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            async def count(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self.replies[message["status"]] += 1
                await send(message)

            if scope["type"] == "http":
                self._clock.advance(SECONDS_A_REQUEST)
                if b"wait=" in scope["query_string"]:  # nobody else would move the clock meanwhile
                    asyncio.get_running_loop().call_later(0.02, self._clock.advance, LONG_POLL_SECONDS)
            await app(scope, receive, count)

        return counted

    @property
    def failures(self) -> int:
        """How many replies said that the server failed."""
        return sum(count for status, count in self.replies.items() if status >= 500)

    def __str__(self) -> str:
        by_status = ", ".join(f"{count} x {status}" for status, count in sorted(self.replies.items()))
        return f"{self.replies.total()} requests, {self.failures} server errors ({by_status})"


class FuzzedServer:
    """The server as seen from the test's thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.clock = FakeClock()
        self.ledger = Ledger(self.clock)
        self._loop = asyncio.new_event_loop()
        self._started: asyncio.Future[None]
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)
        self._up = threading.Event()
        self.running: RunningServer

    @contextmanager
    def up(self) -> Iterator["FuzzedServer"]:
        """Run it."""
        self._thread.start()
        assert self._up.wait(BOUND_SECONDS), "the server did not start"
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(BOUND_SECONDS)
            assert not self._thread.is_alive(), "the server did not stop"
            self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.running.port}"

    def do(self, work: Coroutine[Any, Any, R]) -> R:
        """Run `work` on the server's loop and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND_SECONDS)

    def new_owner(self) -> DeviceActor:
        """Return the phone of a fresh owner."""

        async def found() -> DeviceActor:
            code = await self.running.invite(new_owner=True)
            return await enroll(self.running, code, features=[ANSWER_V2])

        return self.do(found())

    def new_device(self, phone: DeviceActor, **fields: Any) -> DeviceActor:
        """Return one more device of the phone's owner."""

        async def join() -> DeviceActor:
            code = await self.running.invite(owner_id=phone.owner_id)
            return await enroll(self.running, code, **fields)

        return self.do(join())

    def new_program(self, phone: DeviceActor, **fields: Any) -> Program:
        """Return a program with a token of its own."""
        return self.do(phone.new_token(**fields))

    async def _serve(self) -> None:
        async with run_server(self._folder, self.clock, wrap_app=self.ledger.wrap) as self.running:
            # Not from the address that guesses wrong codes.
            self.running.http = await self.running.client("127.0.0.2")
            self._up.set()
            await self._stop.wait()
