"""How often the PostgreSQL store is read and written for one question: counted while one goes all its way over HTTP.

It is asked, waited for in a long poll, read on two phones' streams, answered at one, and acknowledged by both.
"""

import asyncio
import logging
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from bench._clients import Worker
from bench._report import print_table
from reflecto.store.postgres.batches import Batches
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.counters import PostgresCounters
from reflecto.store.postgres.reads import Reads
from tests.builders import enrolment_body
from tests.postgres import Cluster
from tests.running import RunningServer, run_server

QUESTIONS: Final = 20
_TABLE: Final = re.compile(r"(?:JOIN|FROM) ([a-z_]+)\b(?! ?\()")  # unnest(…) is none
WATCHED: Final[dict[str, tuple[type, str]]] = {
    "readings": (Reads, "_read"),
    "writes, each a verb of a batch": (Batches, "run"),
    "counts, each in one statement a turn": (PostgresCounters, "hit"),
    "statements alone, without a batch to share": (Connection, "_execute"),
    "transactions": (Connection, "execute"),
}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count calls while the block runs."""
    counts: Counter[str] = Counter()

    def watched(name: str, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        def counting(*arguments: Any, **options: Any) -> Awaitable[Any]:
            counts[name] += name != "transactions" or arguments[1] == "COMMIT"
            if name == "readings":
                statement = getattr(arguments[1], "sql", arguments[1])
                counts[f"- of {_TABLE.findall(statement)[0]}"] += 1
            return call(*arguments, **options)

        return counting

    patches = [
        patch.object(kind, method, watched(name, getattr(kind, method))) for name, (kind, method) in WATCHED.items()
    ]
    for each in patches:
        each.start()
    try:
        yield counts
    finally:
        for each in patches:
            each.stop()


async def open_worker(server: RunningServer) -> Worker:
    """Enrol an owner with two phones, and connect them."""
    first = (await server.http.post("/v1/enroll", json=enrolment_body(await server.invite(new_owner=True)))).json()
    code = await server.invite(owner_id=first["owner_id"])
    second = (await server.http.post("/v1/enroll", json=enrolment_body(code))).json()
    plan = {
        "asks_at": server.port,
        "phones_at": server.port,
        "token": first["default_token"]["token"],
        "phones": [each["device_token"] for each in (first, second)],
    }
    return await Worker.open(plan)


async def count(address: str, folder: Path) -> Counter[str]:
    """Return the counts of so many questions, one after the other."""
    async with run_server(folder, database=address) as server:
        worker = await open_worker(server)
        for _ in range(3):  # the first ones look up whose the devices are
            await worker.ask()
        with counted() as counts:
            for _ in range(QUESTIONS):
                await worker.ask()
        return counts


def main() -> None:
    """Count and print."""
    logging.disable(logging.WARNING)
    cluster = Cluster.create()
    try:
        address = asyncio.run(cluster.create_database())
        with tempfile.TemporaryDirectory() as folder:
            counts = asyncio.run(count(address, Path(folder)))
    finally:
        cluster.remove()
    parts = sorted(each for each in counts if each not in WATCHED)
    names = [each for name in WATCHED for each in (name, *(parts if name == "readings" else ()))]
    rows = [[name, f"{counts[name] / QUESTIONS:.1f}"] for name in names]
    print_table(f"What a question asks of the store, mean of {QUESTIONS}", ["what", "each"], rows)


if __name__ == "__main__":
    main()
