"""How many questions a second: 64 connections, each asking and withdrawing one question after the other.

Withdrawing keeps the ten places of an owner free; both are durable writes. Eight owners share the connections, each
with one phone that nobody listens to. The client is one process that writes prepared bytes and reads no further than it
must; the table says how busy both were, so that it shows which of them was the limit.
"""

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import cast

import uvloop

from bench._report import milliseconds, print_table
from bench._wire import found_owner, request_bytes, start_server

OWNERS = 8


class Asker(asyncio.Protocol):
    """One connection. `create_seconds` and `cancel_seconds` are how long each reply took."""

    def __init__(self, token: str, name: str, count: int, done: asyncio.Future[None]) -> None:
        self._token = token
        self._name = name
        self._left = count
        self._done = done
        self._received = b""
        self._asked = ""
        self._started = 0.0
        self.create_seconds: list[float] = []
        self.cancel_seconds: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the first."""
        self._transport = cast("asyncio.Transport", transport)  # a connection's is one that can write
        self._next()

    def data_received(self, data: bytes) -> None:
        """Take a reply, if it is whole, and send the next request."""
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or not body.endswith(b"}"):
            return
        self._received = b""
        seconds = time.perf_counter() - self._started
        if self._asked:
            assert head.startswith(b"HTTP/1.1 200"), head + body
            self.cancel_seconds.append(seconds)
            self._asked = ""
        else:
            assert head.startswith(b"HTTP/1.1 201"), head + body
            self.create_seconds.append(seconds)
            self._asked = json.loads(body)["id"]
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Not before all is done."""
        if not self._done.done():
            self._done.set_exception(exc or EOFError())

    def _next(self) -> None:
        self._started = time.perf_counter()
        if self._asked:
            self._transport.write(request_bytes("DELETE", f"/v1/interactions/{self._asked}", self._token))
        elif self._left:
            self._left -= 1
            question = {"question": f"Deploy {self._name} number {self._left}?"}
            self._transport.write(request_bytes("POST", "/v1/interactions", self._token, question))
        elif not self._done.done():
            self._done.set_result(None)


async def ask_on_all(port: int, tokens: list[str], connections: int, questions: int) -> list[Asker]:
    """Ask `questions` on that many connections at once and return what each of them measured."""
    loop = asyncio.get_running_loop()
    askers, dones = [], []
    for number in range(connections):
        done = loop.create_future()
        asker_of = partial(Asker, tokens[number % len(tokens)], f"{number}", questions // connections, done)
        _, asker = await loop.create_connection(asker_of, "127.0.0.1", port)
        askers.append(asker)
        dones.append(done)
    await asyncio.gather(*dones)
    return askers


def cpu_seconds(pid: int) -> float:
    """Return the processor time a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--questions", type=int, default=6_400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, start_server(Path(folder)) as server:
        tokens = [found_owner(server).token for _ in range(OWNERS)]
        server_before, client_before = cpu_seconds(server.pid), resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            askers = runner.run(ask_on_all(server.port, tokens, options.connections, options.questions))
        seconds = time.perf_counter() - started
        server_cpu = cpu_seconds(server.pid) - server_before
        client_after = resource.getrusage(resource.RUSAGE_SELF)
    client_cpu = client_after.ru_utime + client_after.ru_stime - client_before.ru_utime - client_before.ru_stime
    creates = [each for asker in askers for each in asker.create_seconds]
    cancels = [each for asker in askers for each in asker.cancel_seconds]
    rows = [
        ["POST /v1/interactions", f"{len(creates) / seconds:.0f}/s", *milliseconds(creates)],
        ["DELETE /v1/interactions/{id}", f"{len(cancels) / seconds:.0f}/s", *milliseconds(cancels)],
        ["both", f"{(len(creates) + len(cancels)) / seconds:.0f}/s", *milliseconds(creates + cancels)],
    ]
    each_microseconds = server_cpu / (len(creates) + len(cancels)) * 1e6
    note = (
        f"{seconds:.1f} s; the server used {server_cpu / seconds:.0%} of one CPU "
        f"({each_microseconds:.0f} µs a request), the client {client_cpu / seconds:.0%}"
    )
    print_table(
        f"Throughput, {options.connections} connections", ["request", "rate", "p50", "p99", "max"], rows, [note]
    )


if __name__ == "__main__":
    main()
