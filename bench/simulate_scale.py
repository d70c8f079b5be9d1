"""A simulation of many phones and questions over many servers and databases, and what of it saturates first.

No network and no database: an event queue in which servers, cores of databases and flushes to the disk are waited
for. What things cost is measured by `bench.stores --json`; each cell is an installation of its own (docs/scale.md).
First it is held against what was measured with one process, whose costs it takes, and with two, of which it takes
nothing.
"""

import argparse
import json
import logging
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench._report import percentile, print_table
from bench._simulated import PHONES_PER_OWNER, STEPS, Costs, Outcome, Shape, simulate
from bench.stores import as_costs, measure_all

STREAM_BYTES: Final = 16 * 1024  # an idle stream, bench.streams
PHONES_PER_PROCESS: Final = 60_000  # each is an open file, of 65,536
BEAT_SECONDS: Final = 20  # a comment on each idle stream
BUSY_MOST: Final = 0.7  # of a process or a core that is to answer quickly
RATES: Final = (1.25, 1.5, 2.0)  # of what is asked for, until it is too much, which is:
P99_MOST: Final = 1.0  # seconds for a whole question
LEFT_MOST: Final = 0.05  # of the questions are not done
FULL: Final = 0.98  # of the time servers or database are busy


def calibrated(measured: dict[str, Any], costs: Costs, shape: Shape) -> Costs:
    """Return costs with which the simulated processor time of a question is the measured one.

    Statements have costs of their own, and how many there are depends on how full batches are: so it takes turns.
    """
    for _ in range(4):
        found = simulate(shape, costs)
        costs = replace(
            costs,
            request=max(0.0, costs.request + (measured["server_seconds"] - found.server_seconds) / STEPS.requests),
            verb_database=max(
                0.0, costs.verb_database + (measured["database_seconds"] - found.database_seconds) / STEPS.writes
            ),
        )
    return costs


def validation(measured: dict[str, Any], found: Outcome) -> list[str]:
    """Return a row: measured, simulated, the error."""
    real, simulated = measured["questions_per_second"], found.rate
    p50, whole = measured["median_seconds"], percentile(found.whole, 50)
    servers, databases = measured["server_seconds"], measured["database_seconds"]
    return [
        measured["name"],
        f"{real:.0f}/s",
        f"{simulated:.0f}/s",
        f"{simulated / real - 1:+.0%}",
        f"{p50 * 1e3:.1f} ms",
        f"{whole * 1e3:.1f} ms",
        f"{whole / p50 - 1:+.0%}",
        *(f"{each * 1e3:.2f} ms" for each in (servers, found.server_seconds)),
        *(f"{each * 1e3:.2f} ms" for each in (databases, found.database_seconds)),
    ]


def row_of(name: str, cells: int, shape: Shape, found: Outcome, phones: int, saturates: str) -> list[str]:
    """Return what a configuration does."""
    gib = phones * STREAM_BYTES / cells / shape.servers / 2**30
    return [
        name,
        f"{cells} × {shape.servers}",
        f"{cells} × {shape.database_cores}",
        f"{gib:.1f} GiB",
        f"{found.server_busy:.0%}",
        f"{found.database_busy:.0%}",
        f"{found.verbs_per_batch:.1f}",
        *(f"{percentile(found.accepted, each) * 1e3:.0f} ms" for each in (50, 99)),
        *(f"{percentile(found.whole, each) * 1e3:.0f} ms" for each in (50, 99)),
        saturates,
    ]


def sized(rate: float, phones: int, costs: Costs, single: Outcome, standby: float) -> Shape:
    """Return as many servers and cores as keep all below `BUSY_MOST`, for one cell."""
    beats = phones / BEAT_SECONDS * costs.beat
    work = rate * single.server_seconds + beats
    servers = max(math.ceil(work / BUSY_MOST), math.ceil(phones / PHONES_PER_PROCESS))
    cores = max(1, math.ceil(rate * single.database_seconds / BUSY_MOST))
    idle = beats / servers
    return Shape(servers=servers, database_cores=cores, rate=rate, standby=standby, idle_busy=idle)


def saturation(shape: Shape, costs: Costs, cells: int) -> str:
    """Return the rate that is too much for all cells, and what of."""
    for factor in RATES:
        found = simulate(replace(shape, rate=shape.rate * factor), costs)
        late = found.left > shape.rate * factor * LEFT_MOST or percentile(found.whole, 99) > P99_MOST
        if late or max(found.server_busy, found.database_busy) > FULL:
            what = "servers" if found.server_busy >= found.database_busy else "database"
            return f"{cells * shape.rate * factor:,.0f}/s, {what}"
    return f"above {cells * shape.rate * RATES[-1]:,.0f}/s"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", type=Path, help="what bench.stores --json wrote; else it is measured first")
    parser.add_argument("--phones", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=10_000, help="questions a second")
    parser.add_argument("--cells", type=int, nargs="+", default=[1, 4, 10])
    parser.add_argument("--seconds", type=float, default=0.4, help="that are simulated, after as long to warm up")
    parser.add_argument("--standby-ms", type=float, default=2.0, help="until a synchronous standby has a commit")
    parser.add_argument("--network-ms", type=float, default=0.3, help="to the database and back, between machines")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    given = json.loads(options.costs.read_text("utf-8")) if options.costs else as_costs(*measure_all(32, 3, 2), 32)
    one, two = given["installations"]["PostgreSQL × 1"], given["installations"]["PostgreSQL × 2"]
    machine = Shape(owners=given["owners"], machine_cores=given["cores"], seconds=2.0)
    costs = calibrated(one, Costs.of(given["statement"], one), machine)
    rows = [validation(one, simulate(machine, costs)), validation(two, simulate(replace(machine, servers=2), costs))]
    columns = [
        *("on one machine", "measured", "simulated", "error", "whole p50 measured", "simulated", "error"),
        *("server CPU measured", "simulated", "database CPU measured", "simulated"),
    ]
    print_table("The simulation beside what was measured", columns, rows, STEPS.notes())

    spread = replace(costs, round_trip=options.network_ms / 1e3)
    rows = []
    for standby in (0.0, options.standby_ms / 1e3):
        for cells in options.cells:
            rate, phones = options.rate / cells, options.phones // cells  # of one; they are all the same
            first = sized(rate, phones, spread, simulate(machine, spread), standby)
            # How full batches are decides what a question costs: size it again.
            again = simulate(replace(first, seconds=options.seconds / 2), spread)
            shape = replace(sized(rate, phones, spread, again, standby), seconds=options.seconds)
            name = f"{cells} cell{'s'[: cells - 1]}{', standby' if standby else ''}"
            found = simulate(shape, spread)
            rows.append(row_of(name, cells, shape, found, options.phones, saturation(shape, spread, cells)))
    columns = [
        *("", "servers", "database cores", "streams a server", "servers busy", "database busy", "verbs a commit"),
        *("201 p50", "p99", "whole p50", "p99", "too much at"),
    ]
    print_table(
        f"{options.phones:,} phones, {options.rate:,.0f} questions a second, {PHONES_PER_OWNER} phones an owner",
        columns,
        rows,
        ["A server is one process on a core of its own. The person is not waited for: whole is the system's part."],
    )


if __name__ == "__main__":
    main()
