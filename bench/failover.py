"""Fails the database under load again and again, and counts what of the acknowledged is lost and how long it is away.

A primary with a synchronous standby on loopback; the store is driven without HTTP, by askers, taps and phones.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from bench._report import print_table
from reflecto.store.postgres.store import PostgresStore
from tests.e2e.failover_load import Load, found_owners
from tests.e2e.postgres_pair import Pair

LOAD_BEFORE: Final = 400  # promises made before each failure
LOAD_AFTER: Final = 200
HUNG_SECONDS: Final = 10


async def kill_and_promote(pair: Pair) -> None:
    """Kill the primary, as a power cut would."""
    await asyncio.to_thread(pair.primary.kill)
    await pair.promote()


async def hang_and_promote(pair: Pair) -> None:
    """Stop the primary where it is: its connections stay open and say nothing."""
    pair.primary.freeze()
    await pair.promote()


async def hang_standby(pair: Pair) -> None:
    """Let the standby hang: nothing is promoted."""
    pair.standby.freeze()
    await asyncio.sleep(HUNG_SECONDS)
    pair.standby.thaw()


async def hang_standby_and_promote(pair: Pair) -> None:
    """Let the standby hang, with commits that wait for it, and then make it the primary."""
    await hang_standby(pair)
    await kill_and_promote(pair)


async def restart(pair: Pair) -> None:
    """Restart the primary; nothing is promoted."""
    await asyncio.to_thread(pair.primary.stop)
    await asyncio.to_thread(pair.primary.start)


FAILURES: Final[dict[str, Callable[[Pair], Awaitable[None]]]] = {
    "primary killed, standby promoted": kill_and_promote,
    "primary hung, standby promoted": hang_and_promote,
    f"standby hung for {HUNG_SECONDS} s": hang_standby,
    f"standby hung for {HUNG_SECONDS} s, then promoted": hang_standby_and_promote,
    "primary restarted": restart,
}


@dataclass
class Tally:
    """What the rounds of one kind of failure came to. A broken promise ends the whole run instead."""

    rounds: int = 0
    acknowledged: int = 0
    away: list[float] = field(default_factory=list)  # seconds from the failure's end to the next promise
    unavailable: int = 0
    unknown: int = 0


async def run_round(pair: Pair, fail: Callable[[Pair], Awaitable[None]], tally: Tally) -> None:
    """Put load on, fail, wait until the store is back, and check."""
    await pair.mend()
    database = (await pair.primary.create_database()).rpartition("/")[2]
    store = await PostgresStore.open(pair.address(database))
    load = Load(store, await found_owners(pair.primary.address(database), 8))
    load.start()
    await load.ledger.wait_for_more(LOAD_BEFORE)
    await fail(pair)
    over = time.perf_counter()
    await load.ledger.wait_for_more(1)
    tally.away.append(time.perf_counter() - over)
    await load.ledger.wait_for_more(LOAD_AFTER)
    await load.stop()
    await load.check()
    await store.close()
    tally.rounds += 1
    tally.acknowledged += load.ledger.acknowledged
    tally.unavailable += load.ledger.refusals["unavailable"]
    tally.unknown += load.ledger.refusals["outcome_unknown"]


async def run(rounds: int) -> dict[str, Tally]:
    """Run so many rounds of each kind, one kind after the other in turn."""
    pair = Pair()
    tallies = {name: Tally() for name in FAILURES}
    try:
        for number in range(1, rounds + 1):
            for name, fail in FAILURES.items():
                await run_round(pair, fail, tallies[name])
            if number % 10 == 0:
                print(f"  {number} rounds of each", flush=True)
    finally:
        pair.remove()
    return tallies


def main() -> None:
    """Run and print. A broken promise ends it with a traceback that names the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    tallies = asyncio.run(run(options.rounds))
    rows = [
        [
            name,
            f"{tally.rounds}",
            f"{tally.acknowledged}",
            "0",
            f"{sorted(tally.away)[len(tally.away) // 2]:.2f} s",
            f"{max(tally.away):.2f} s",
            f"{tally.unavailable}",
            f"{tally.unknown}",
        ]
        for name, tally in tallies.items()
    ]
    columns = [
        "failure",
        "times",
        "acknowledged",
        "lost",
        "until back, p50",
        "until back, max",
        "503 unavailable",
        "503 outcome_unknown",
    ]
    notes = [
        "Until back: from the end of the promotion, hang or restart to the next thing acknowledged. Checked each time:",
        "every acknowledged question, prompt and answer is there, one tap won, no prompt came twice, numbers rose.",
    ]
    print_table("The database fails under load", columns, rows, notes)


if __name__ == "__main__":
    main()
