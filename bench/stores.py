"""Questions and messages a second over HTTP, with SQLite, PostgreSQL and two processes on it, in turn; and their CPU.

All with the same load and the same durability: on the disk, and flushed before the reply. A question is asked, waited
for in a long poll, read on two phones' streams, answered, and acknowledged by both. With two processes each owner's
program is at the one and its phones at the other.
"""

import argparse
import asyncio
import json
import logging
import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import asyncpg

from bench._installations import Clients, Installation, cpu_seconds
from bench._report import milliseconds, print_table
from reflecto.store.postgres.connection import Connection
from tests.postgres import Cluster

KINDS: Final = {"asks": "questions", "sends": "messages"}
WARM_SECONDS: Final = 0.5
PROBES: Final = 2_000


@dataclass
class Measured:
    """The rounds of one kind on one installation. Processor time is in seconds a request."""

    rates: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)  # of a whole question or message
    busy: list[float] = field(default_factory=list)  # cores of the servers
    requests: list[float] = field(default_factory=list)  # for each question or message
    accepted: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)

    def add(self, run: dict[str, Any], server: float, database: float) -> None:
        """Add a round."""
        self.rates.append(len(run["done"]) / run["seconds"])
        self.server.append(server / run["requests"])
        self.database.append(database / run["requests"])
        self.client.append(run["client_cpu"] / len(run["done"]))
        self.busy.append(server / run["seconds"])
        self.requests.append(run["requests"] / len(run["done"]))
        self.accepted += run["accepted"]
        self.done += run["done"]


Results = dict[tuple[str, str], Measured]  # by kind and installation


def measure(installation: Installation, clients: Clients, kind: str, seconds: float, into: Measured) -> None:
    """Run one round."""
    before = installation.used_seconds()
    run = clients.run(kind, seconds)
    server, database = (now - then for now, then in zip(installation.used_seconds(), before, strict=True))
    into.add(run, server, database)


def rows_of(name: str, kind: str, measured: Measured, base: Measured) -> list[str]:
    """Return a row of the table; the ratio is to the first installation."""
    rate = median(measured.rates)
    return [
        f"{KINDS[kind]}, {name}",
        f"{rate:.0f}/s",
        f"{rate / median(base.rates):.2f}",
        f"{rate * median(measured.requests):.0f}/s",
        f"{median(measured.server) * 1e6:.0f} µs",
        f"{median(measured.database) * 1e6:.0f} µs" if median(measured.database) else "in it",
        f"{median(measured.busy):.2f}",
        *milliseconds(measured.accepted)[:2],
        *milliseconds(measured.done)[:2],
    ]


COLUMNS: Final = (
    *("what", "rate", "ratio", "requests", "server a request", "database a request", "server cores"),
    *("first 2xx p50", "p99", "whole p50", "p99"),
)


def as_costs(results: Results, statement: dict[str, float], owners: int) -> dict[str, Any]:
    """Return what `bench.simulate_scale` takes: seconds of processor time of a whole question, and the rates."""
    installations = {
        name: {
            "name": name,
            "questions_per_second": median(measured.rates),
            "server_seconds": median(measured.server) * median(measured.requests),
            "database_seconds": median(measured.database) * median(measured.requests),
            "client_seconds": median(measured.client),
            "median_seconds": median(measured.done),
        }
        for (kind, name), measured in results.items()
        if kind == "asks"
    }
    return {"owners": owners, "cores": os.cpu_count(), "statement": statement, "installations": installations}


async def statement_costs(cluster: Cluster) -> dict[str, float]:
    """Return what one statement takes: all of it, and the processor time at both ends; and a commit besides."""
    connection = await asyncpg.connect(cluster.address())
    try:
        await connection.execute("CREATE TABLE probe AS SELECT 0 AS number")
        server, database = time.process_time(), cpu_seconds(cluster.pids())
        selecting = [await _seconds_of(connection, "SELECT number FROM probe WHERE number = $1") for _ in range(PROBES)]
        server, database = time.process_time() - server, cpu_seconds(cluster.pids()) - database
        updating = [await _seconds_of(connection, "UPDATE probe SET number = $1") for _ in range(PROBES // 10)]
    finally:
        await connection.close()
    return {
        "seconds": median(selecting),
        "server_seconds": server / PROBES,
        "database_seconds": database / PROBES,
        "commit_seconds": median(updating) - median(selecting),
    }


async def _seconds_of(connection: Connection, statement: str) -> float:
    began = time.perf_counter()
    await connection.fetch(statement, 0)
    return time.perf_counter() - began


def measure_all(owners: int, seconds: float, rounds: int) -> tuple[Results, dict[str, float]]:
    """Return what came of all rounds, by kind and installation, and what one statement takes."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        cluster = Cluster.create(on_disk=True)
        stack.callback(cluster.remove)
        statement = asyncio.run(statement_costs(cluster))
        installations = [
            stack.enter_context(each)
            for each in (
                Installation("SQLite", Path(folder) / "sqlite"),
                Installation("PostgreSQL × 1", Path(folder) / "one", 1, cluster),
                Installation("PostgreSQL × 2", Path(folder) / "two", 2, cluster),
            )
        ]
        clients = [each.start_clients(each.found_owners(owners)) for each in installations]
        results = {(kind, each.name): Measured() for kind in KINDS for each in installations}
        for number in range(rounds + 1):
            for kind in KINDS:
                for installation, its_clients in zip(installations, clients, strict=True):
                    into = results[kind, installation.name] if number else Measured()  # the first one warms up
                    measure(installation, its_clients, kind, seconds if number else WARM_SECONDS, into)
    return results, statement


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=4, help="of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to write the costs for bench.simulate_scale")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # that there is no standby is known
    results, statement = measure_all(options.owners, options.seconds, options.rounds)
    rows = [rows_of(name, kind, measured, results[kind, "SQLite"]) for (kind, name), measured in results.items()]
    notes = [
        f"{options.owners} owners at once, two phones each; medians of {options.rounds} rounds",
        f"of {options.seconds:g} s in turn; the clients are a process beside.",
        "First 2xx: of the question or message. Whole: until the program has the answer. CPU: user and system time.",
    ]
    print_table("The same load on three stores", COLUMNS, rows, notes)
    if options.json:
        options.json.write_text(json.dumps(as_costs(results, statement, options.owners), indent=1), "utf-8")


if __name__ == "__main__":
    main()
