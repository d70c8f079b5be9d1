"""Questions and messages a second over HTTP, with SQLite, PostgreSQL and two processes on it, in turn; and their CPU.

All with the same load and the same durability: on the disk, and flushed before the reply. A question is asked, waited
for in a long poll, read on two phones' streams, answered, and acknowledged by both. With two processes each owner's
program is at the one and its phones at the other.
"""

import argparse
import json
import logging
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench._installations import Clients, Installation
from bench._report import milliseconds, print_table
from tests.postgres import Cluster

KINDS: Final = {"asks": "questions", "sends": "messages"}
WARM_SECONDS: Final = 0.5


@dataclass
class Measured:
    """The rounds of one kind on one installation. Processor time is in seconds a request."""

    rates: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)  # cores of the servers
    requests: list[float] = field(default_factory=list)  # for each question or message
    accepted: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)

    def add(self, run: dict[str, Any], server: float, database: float) -> None:
        """Add a round."""
        self.rates.append(len(run["done"]) / run["seconds"])
        self.server.append(server / run["requests"])
        self.database.append(database / run["requests"])
        self.busy.append(server / run["seconds"])
        self.requests.append(run["requests"] / len(run["done"]))
        self.accepted += run["accepted"]
        self.done += run["done"]


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


def as_costs(name: str, measured: Measured) -> dict[str, Any]:
    """Return what `bench.simulate_scale` takes: seconds of processor time for a whole question, and the rate."""
    requests = median(measured.requests)
    return {
        "name": name,
        "questions_per_second": median(measured.rates),
        "requests_per_question": requests,
        "server_seconds": median(measured.server) * requests,
        "database_seconds": median(measured.database) * requests,
        "median_seconds": median(measured.done),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=4, help="of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to write the costs for bench.simulate_scale")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # that there is no standby is known
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        cluster = Cluster.create(on_disk=True)
        stack.callback(cluster.remove)
        installations = [
            stack.enter_context(each)
            for each in (
                Installation("SQLite", Path(folder) / "sqlite"),
                Installation("PostgreSQL × 1", Path(folder) / "one", 1, cluster),
                Installation("PostgreSQL × 2", Path(folder) / "two", 2, cluster),
            )
        ]
        clients = [each.start_clients(each.found_owners(options.owners)) for each in installations]
        results = {(kind, each.name): Measured() for kind in KINDS for each in installations}
        for number in range(options.rounds + 1):
            for kind in KINDS:
                for installation, its_clients in zip(installations, clients, strict=True):
                    into = results[kind, installation.name] if number else Measured()  # the first one warms up
                    measure(installation, its_clients, kind, options.seconds if number else WARM_SECONDS, into)
    rows = [rows_of(name, kind, measured, results[kind, "SQLite"]) for (kind, name), measured in results.items()]
    notes = [
        f"{options.owners} owners at once, two phones each; medians of {options.rounds} rounds",
        f"of {options.seconds:g} s in turn; the clients are a process beside.",
        "First 2xx: of the question or message. Whole: until the program has the answer. CPU: user and system time.",
    ]
    print_table("The same load on three stores", COLUMNS, rows, notes)
    if options.json:
        costs = [as_costs(name, measured) for (kind, name), measured in results.items() if kind == "asks"]
        options.json.write_text(json.dumps(costs, indent=1), "utf-8")


if __name__ == "__main__":
    main()
