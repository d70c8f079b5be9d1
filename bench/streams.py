"""A thousand idle streams: how much memory each costs, and how soon SIGTERM ends them, with fifty long polls beside."""

import argparse
import asyncio
import signal
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench._report import print_table
from bench._wire import start_server
from tests.databases import Databases
from tests.e2e.crowd import STREAMS_PER_DEVICE, enrol_many, open_polls, open_streams
from tests.e2e.phones import Phone, ask, read
from tests.e2e.server_process import ServerProcess

POLLS = 50


async def hold_and_stop(server: ServerProcess, phones: list[Phone], polls: int) -> tuple[list[str], list[str]]:
    """Return a row about memory and one about the stop."""
    token = phones[0].token
    asked = ask(server.url, token, "Still there?").json()["id"]
    before_kib = server.memory_kib()
    streams = await open_streams(server.port, [phone.device_token for phone in phones] * STREAMS_PER_DEVICE)
    with_streams_kib = server.memory_kib()
    held = [*streams, *await open_polls(server.port, token, asked, polls)]
    assert read(server.url, token, asked).status_code == 200
    ends = asyncio.gather(*(each.read_to_end() for each in held))
    started = time.perf_counter()
    code = await asyncio.to_thread(server.stop, signal.SIGTERM)
    seconds = time.perf_counter() - started
    assert code == 0
    proper = sum(end.endswith(b"0\r\n\r\n") for end in (await ends)[: len(streams)])
    each_kib = (with_streams_kib - before_kib) / len(streams)
    memory = ["memory of an idle stream", f"{each_kib:.1f} KiB", f"{before_kib / 1024:.0f} MiB before the first"]
    stop = ["SIGTERM until the exit", f"{seconds * 1_000:.0f} ms", f"exit 0, {proper} streams ended properly"]
    return memory, stop


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    count: int = options.streams
    databases = Databases()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.callback(databases.close)
        store = asyncio.run(databases.of(Path(folder))) if options.store == "postgresql" else None
        server = stack.enter_context(start_server(Path(folder), store))
        phones = enrol_many(server, server.data, count // STREAMS_PER_DEVICE, store)
        rows = asyncio.run(hold_and_stop(server, phones, POLLS))
    print_table(f"{count} idle streams, {options.store}", ["what", "value", ""], rows)


if __name__ == "__main__":
    main()
