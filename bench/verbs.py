"""The store alone, without HTTP and sealing: questions asked and answered, each a transaction with all its checks.

SQLite, PostgreSQL with one process, and with two on one database, in turn. A verb is an ask or an answer. All flush to
the disk before they reply.
"""

import argparse
import asyncio
import cProfile
import logging
import os
import pstats
import random
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Final

import uvloop

from bench._installations import cpu_seconds
from bench._many_owners import BLOB, Owner, fill_postgres, fill_sqlite
from bench._report import milliseconds, print_table
from reflecto.core.model import Delivery, Interaction, Tap
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, Verdict
from reflecto.store.postgres.store import PostgresStore
from reflecto.store.sqlite.store import SqliteStore
from tests.builders import make_delivery, make_interaction, make_tap
from tests.postgres import Cluster

OPENING_SECONDS: Final = 3.0  # for all processes to have their stores open
WARM_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Work:
    """What one process does: on a folder or at an address, from a time on (Unix seconds), for so long."""

    store: str
    owners: int
    waiting: int
    begin_at: float
    seconds: float
    profile: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it: seconds of each verb, processor time, transactions."""

    verbs: list[float]
    cpu: float
    commits: int


@cache
def _owners(count: int) -> list[Owner]:
    return [Owner.of(number) for number in range(count)]


def _made(owners: int, now: int) -> tuple[Owner, Interaction, Delivery, Tap]:
    """Return a random owner with a new question, its prompt and the tap."""
    owner = random.choice(_owners(owners))  # noqa: S311  no secret
    mark = os.urandom(32)  # the builders' own come again in the next process
    question = make_interaction(
        owner.token, repeat_mark=mark, content_mark=mark, sealed=BLOB, created_at=now, expires_at=now + 600
    )
    prompt = make_delivery(owner.phone, BLOB, expires_at=now + 600)
    return owner, question, prompt, make_tap(owner.phone)


def prepare(owners: int) -> None:
    """Make all records of owners that the load needs."""
    _owners(owners)


def making_seconds(owners: int) -> float:
    """Return what making a verb's records costs the load itself."""
    count, _ = 2_000, _owners(owners)
    began = time.process_time()
    for number in range(count):
        _made(owners, number)
    return (time.process_time() - began) / count / 2


async def _ask_and_answer(store: Store, owners: int, until: float, took: list[float]) -> None:
    """Ask random owners, one after the other, and answer each."""
    while (now := time.time()) < until:
        owner, question, prompt, tap = _made(owners, int(now))
        began = time.perf_counter()
        created = await store.create_interaction_once(question, [prompt], frozenset({owner.phone.id}), now)
        asked = time.perf_counter()
        if created.creation is Creation.TOO_MANY_PENDING:
            continue
        assert created.creation is Creation.CREATED, created
        ended = await store.record_answer_if_pending(question.id, tap, [], now)
        assert ended is not None
        assert ended.verdict is Verdict.ACCEPTED
        took += (asked - began, time.perf_counter() - asked)


async def _run(work: Work) -> Done:
    address, _ = work.store, _owners(work.owners)
    store: PostgresStore | SqliteStore = (
        await PostgresStore.open(address) if "://" in address else SqliteStore.open(Path(address))
    )
    assert time.time() < work.begin_at - WARM_SECONDS, "the machine is too busy to open the store in time"
    took: list[float] = []
    commits = store.work.verbs.counts
    await asyncio.sleep(work.begin_at - time.time() - WARM_SECONDS)
    until = work.begin_at + work.seconds
    asking = [asyncio.create_task(_ask_and_answer(store, work.owners, until, took)) for _ in range(work.waiting)]
    await asyncio.sleep(work.begin_at - time.time())
    took.clear()
    cpu, before = time.process_time(), sum(commits)
    profile = cProfile.Profile()
    if work.profile:
        profile.enable()
    await asyncio.gather(*asking)
    if work.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    done = Done(took, time.process_time() - cpu, sum(commits) - before)
    await store.close()
    return done


def run(work: Work) -> Done:
    """Do it in this process."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_run(work))


@dataclass
class Measured:
    """The rounds on one store. Processor time is in seconds a verb."""

    rates: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)


def measure(workers: list[ProcessPoolExecutor], work: Work, cluster: Cluster | None, into: Measured) -> None:
    """Run one round in so many processes."""
    running = [each.submit(run, work) for each in workers]
    time.sleep(max(0.0, work.begin_at - time.time()))
    before = cpu_seconds(cluster.pids()) if cluster else 0.0
    done = [each.result() for each in running]
    database = cpu_seconds(cluster.pids()) - before if cluster else 0.0
    verbs = sum(len(each.verbs) for each in done)
    into.rates.append(verbs / work.seconds)
    into.python.append(sum(each.cpu for each in done) / verbs)
    into.database.append(database / verbs)
    into.batches.append(verbs / max(1, sum(each.commits for each in done)))
    into.took += [each for one in done for each in one.verbs]


def row_of(name: str, measured: Measured, base: Measured) -> list[str]:
    """Return a row of the table; the ratio is to the first store."""
    database = median(measured.database)
    return [
        name,
        f"{median(measured.rates):.0f}/s",
        f"{median(measured.rates) / median(base.rates):.2f}",
        f"{median(measured.python) * 1e6:.0f} µs",
        f"{database * 1e6:.0f} µs" if database else "in it",
        f"{median(measured.batches):.1f}",
        *milliseconds(measured.took)[:2],
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=100_000, help="that are there before the first")
    parser.add_argument("--waiting", type=int, default=64, help="in all processes together")
    parser.add_argument("--seconds", type=float, default=5, help="of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="print where PostgreSQL × 1 spends its Python")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # that there is no standby is known
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        cluster = Cluster.create(on_disk=True)
        stack.callback(cluster.remove)
        address = asyncio.run(cluster.create_database())
        asyncio.run(fill_postgres(address, options.owners, options.questions))
        asyncio.run(fill_sqlite(Path(folder), options.owners, options.questions))
        stores = {
            "SQLite": (folder, 1, None),
            "PostgreSQL × 1": (address, 1, cluster),
            "PostgreSQL × 2": (address, 2, cluster),
        }
        results = {name: Measured() for name in stores}
        workers = [stack.enter_context(ProcessPoolExecutor(1, mp_context=get_context("spawn"))) for _ in range(2)]
        for each in [worker.submit(prepare, options.owners) for worker in workers]:
            each.result()
        for _ in range(options.rounds):
            for name, (store, processes, its_cluster) in stores.items():
                work = Work(
                    store,
                    options.owners,
                    options.waiting // processes,
                    time.time() + OPENING_SECONDS,
                    options.seconds,
                    profile=options.profile and name == "PostgreSQL × 1",
                )
                measure(workers[:processes], work, its_cluster, results[name])
    rows = [row_of(name, measured, results["SQLite"]) for name, measured in results.items()]
    note = (
        f"{options.waiting} waiting, {options.owners} owners, {options.questions} questions before; "
        f"medians of {options.rounds} rounds of {options.seconds:g} s, in turn. "
        f"Of the Python, making the records is {making_seconds(options.owners) * 1e6:.0f} µs."
    )
    columns = ["ask and answer", "verbs", "ratio", "Python a verb", "database a verb", "verbs a commit", "p50", "p99"]
    print_table("The store alone", columns, rows, [note])


if __name__ == "__main__":
    main()
