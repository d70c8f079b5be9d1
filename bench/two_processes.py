"""Two `reflecto serve` processes on one PostgreSQL database: how long what happens at one takes to reach the other."""

import argparse
import asyncio
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench._report import milliseconds, print_table
from tests.databases import Databases
from tests.e2e.phones import Phone, bearer
from tests.e2e.server_process import ServerProcess


def measure(first: ServerProcess, second: ServerProcess, count: int) -> list[list[str]]:
    """Ask at the first, read the phone's stream at the second, tap there and wait at the first."""
    phone = Phone.enrol(first.url, first.ready["code"])
    elsewhere = Phone(second.url, phone.keys, vars(phone))
    with (
        httpx.Client(base_url=first.url, headers=bearer(phone.token), timeout=20) as asker,
        ThreadPoolExecutor() as pool,
    ):
        to_stream, to_asker, whole = [], [], []
        entries = elsewhere.entries(after=1)
        for number in range(count):
            started = time.perf_counter()
            asked = asker.post("/v1/interactions", json={"question": f"{number}?"}).json()["id"]
            accepted = time.perf_counter()
            while next(entries)[1]["id"] != asked:
                pass
            to_stream.append(time.perf_counter() - accepted)
            waiting = pool.submit(_heard_at, asker, asked)
            elsewhere.answer(asked, 0)
            answered = time.perf_counter()
            heard = waiting.result()
            to_asker.append(max(0.0, heard - answered))
            whole.append(heard - started)
        entries.close()
    return [
        ["201 at A until the phone's stream at B has it", *milliseconds(to_stream)],
        ["200 of the tap at B until the poll at A replies", *milliseconds(to_asker)],
        ["question until answer, all of it", *milliseconds(whole)],
    ]


def _heard_at(asker: httpx.Client, question_id: str) -> float:
    """Wait for the question's end; return when its reply came."""
    asker.get(f"/v1/interactions/{question_id}?wait=20")
    return time.perf_counter()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    count: int = parser.parse_args().questions
    databases = Databases()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.callback(databases.close)
        store = asyncio.run(databases.of(Path(folder)))
        first, second = (
            stack.enter_context(ServerProcess(Path(folder) / "data", env={"REFLECTO_STORE": store})) for _ in range(2)
        )
        rows = measure(first, second, count)
    print_table(f"{count} questions over two processes", ["what", "p50", "p99", "most"], rows)


if __name__ == "__main__":
    main()
