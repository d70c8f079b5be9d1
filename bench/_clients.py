"""The clients of `bench.stores`, a process of their own: askers, and phones with open streams, on bare sockets.

Its argument is a plan as JSON. Then each line on its standard input, `asks SECONDS` or `sends SECONDS`, is a run, whose
result it prints as one line of JSON. Connections are kept; one worker an owner does one thing after the other.
"""

import asyncio
import itertools
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import uvloop

from bench._wire import request_bytes

_EVENT: Final = re.compile(rb"id: (\d+)\nevent: message\ndata: [^\n]*\n\n")
_ANSWER: Final = {"choice_index": 0, "answered_at": 1_754_800_000}
ACK_EVERY: Final = 20  # messages; a prompt is acknowledged once its question is over
_number: Final = itertools.count()


class Line(asyncio.Protocol):
    """One keep-alive connection for one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._reply: asyncio.Future[bytes] | None = None

    async def call(self, request: bytes) -> bytes:
        """Send a request and return the body of its reply, which has to be 2xx."""
        return await (await self.send(request))

    async def send(self, request: bytes) -> "asyncio.Future[bytes]":
        """Send a request; the future has the body. Connects again where the server has closed an idle connection."""
        loop = asyncio.get_running_loop()
        if self._transport is None or self._transport.is_closing():
            self._transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        self._reply = loop.create_future()
        self._transport.write(request)
        return self._reply

    def data_received(self, data: bytes) -> None:
        """Take a reply, once it is whole."""
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not found or len(body) < int(length or 0) or self._reply is None:
            return
        self._received = b""
        if head.startswith(b"HTTP/1.1 2"):
            self._reply.set_result(body)
        else:
            self._reply.set_exception(AssertionError((head + body).decode()))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(exc or EOFError())


class Phone(asyncio.Protocol):
    """A phone's stream, and its other connection. `line` is for what it posts."""

    line: Line

    @classmethod
    async def open(cls, port: int, token: str) -> "Phone":
        """Connect and ask for the stream."""
        _, phone = await asyncio.get_running_loop().create_connection(lambda: cls(token), "127.0.0.1", port)
        phone.line = Line(port)
        await phone.opened.wait()
        return phone

    def __init__(self, token: str) -> None:
        self.token = token
        self.read = 0  # events so far
        self.seq = 0  # of the last one
        self._received = b""
        self._grown = asyncio.Event()
        self.opened = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for what comes."""
        cast("asyncio.Transport", transport).write(request_bytes("GET", "/v1/sync", self.token))

    def data_received(self, data: bytes) -> None:
        """Count events."""
        self.opened.set()
        self._received += data
        end = 0
        for found in _EVENT.finditer(self._received):
            self.read, self.seq, end = self.read + 1, int(found[1]), found.end()
        if end:
            self._received = self._received[end:]
            self._grown.set()

    async def wait_for(self, count: int) -> None:
        """Wait until so many events have come."""
        while self.read < count:
            self._grown.clear()
            await self._grown.wait()

    async def ack(self) -> None:
        """Acknowledge what has come."""
        await self.line.call(request_bytes("POST", "/v1/sync/ack", self.token, {"seq": self.seq}))


class Worker:
    """One owner: a program that asks, and phones. Everything that a real question makes its clients send is sent."""

    def __init__(self, token: str, asker: Line, phones: list[Phone]) -> None:
        self._token = token
        self._asker = asker
        self._phones = phones
        self.requests = 0
        self.done: list[float] = []  # seconds that each question or message took
        self.accepted: list[float] = []  # seconds until the first reply

    @classmethod
    async def open(cls, plan: dict[str, Any]) -> "Worker":
        """Connect all of the owner's."""
        phones = [await Phone.open(plan["phones_at"], each) for each in plan["phones"]]
        return cls(plan["token"], Line(plan["asks_at"]), phones)

    async def ask(self) -> None:
        """Ask, wait in a long poll, read the prompt, answer, have the answer; both phones acknowledge."""
        first, *others = self._phones
        before = [each.read for each in self._phones]
        started = time.perf_counter()
        question = {"question": f"Deploy build number {next(_number)} to production?"}
        asked = json.loads(await self._asker.call(request_bytes("POST", "/v1/interactions", self._token, question)))
        self.accepted.append(time.perf_counter() - started)
        path = f"/v1/interactions/{asked['id']}"
        poll = await self._asker.send(request_bytes("GET", f"{path}?wait=60", self._token))
        await first.wait_for(before[0] + 1)
        await first.line.call(request_bytes("POST", f"{path}/answer", first.token, _ANSWER))
        assert json.loads(await poll)["status"] == "answered"
        self.done.append(time.perf_counter() - started)
        for each, read in zip(others, before[1:], strict=True):
            await each.wait_for(read + 2)  # the prompt, and that it is over
        await asyncio.gather(*(each.ack() for each in self._phones))
        self.requests += 3 + len(self._phones)

    async def send(self) -> None:
        """Send a message."""
        started = time.perf_counter()
        message = {"message": f"Build number {next(_number)} is done."}
        await self._asker.call(request_bytes("POST", "/v1/send", self._token, message))
        self.done.append(time.perf_counter() - started)
        self.accepted.append(self.done[-1])
        self.requests += 1
        if len(self.done) % ACK_EVERY == 0:
            await asyncio.gather(*(each.ack() for each in self._phones))
            self.requests += len(self._phones)


async def run(workers: list[Worker], kind: str, seconds: float) -> dict[str, Any]:
    """Let all workers do one thing after the other for so long; nothing is under way afterwards."""
    for each in workers:
        each.requests, each.done, each.accepted = 0, [], []
    started, cpu = time.perf_counter(), time.process_time()

    async def work(step: Callable[[], Awaitable[None]]) -> None:
        while time.perf_counter() < started + seconds:
            await step()

    await asyncio.gather(*(work(each.ask if kind == "asks" else each.send) for each in workers))
    return {
        "seconds": time.perf_counter() - started,
        "requests": sum(each.requests for each in workers),
        "done": [each for worker in workers for each in worker.done],
        "accepted": [each for worker in workers for each in worker.accepted],
        "client_cpu": time.process_time() - cpu,
    }


async def main() -> None:
    """Connect, then run what is read."""
    workers = [await Worker.open(plan) for plan in json.loads(sys.argv[1])]
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        kind, seconds = line.split()
        print(json.dumps(await run(workers, kind, float(seconds))), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
