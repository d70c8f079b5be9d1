"""Kills the server under load again and again, and reads back each time all that it had answered 2xx."""

import argparse
import secrets
import tempfile
import time
from pathlib import Path

from bench._report import print_table
from tests.e2e.crash_ledger import Ledger
from tests.e2e.crash_load import run_rounds


def main() -> None:
    """Run and print. A broken promise ends it with a traceback that names the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    options = parser.parse_args()
    started = time.perf_counter()

    def report(ledger: Ledger, number: int) -> None:
        if number % 25 == 0:
            print(
                f"  {number} kills, {ledger.promises} promises kept, {time.perf_counter() - started:.0f} s", flush=True
            )

    with tempfile.TemporaryDirectory() as folder:
        ledger = run_rounds(Path(folder), options.rounds, options.seed, report)
    ends = [status for status, _ in ledger.ended.values()]
    rows = [
        ["kills", f"{options.rounds}"],
        ["2xx replies under load", f"{ledger.promises}"],
        ["questions", f"{len(ledger.questions)}"],
        ["answers and withdrawals, none changed", f"{ends.count('answered')} + {ends.count('cancelled')}"],
        ["queue entries read, none lost or twice", f"{sum(len(inbox.seen) for inbox in ledger.inboxes)}"],
        ["tokens revoked and devices unpaired", f"{len(ledger.dead_tokens)}"],
        ["setup codes used", f"{len(ledger.used_codes)}"],
        ["broken promises", "0"],
    ]
    print_table("kill -9 under load", ["what", "count"], rows, [f"seed {options.seed}"])


if __name__ == "__main__":
    main()
