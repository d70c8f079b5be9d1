"""One readable table per benchmark, headed by the command that made it and what it ran on."""

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from reflecto import __version__


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """Print rows under their columns; the first column is text, the others are numbers with their units."""
    command = " ".join([".venv/bin/python -m", f"bench.{Path(sys.argv[0]).stem}", *sys.argv[1:]])
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    print(f"\n{title}\n$ {command}")
    print(f"Reflecto {__version__}, Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.system()}\n")
    for row in [columns, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  " + "  ".join(cells))
    for note in notes:
        print(f"  {note}")
    sys.stdout.flush()


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that `percent` per cent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def milliseconds(values: Sequence[float]) -> list[str]:
    """Return p50, p99 and the highest of durations given in seconds."""
    return [f"{percentile(values, percent) * 1_000:.2f} ms" for percent in (50, 99, 100)]
