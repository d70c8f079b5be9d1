"""Standard streams that a command may have been started without (`>&-`, `2>&-`, some cron and service managers)."""

import io
import os
import sys
from pathlib import Path


class ClosedOutput(io.TextIOBase):
    """Standard output that nobody reads: whoever writes to it learns that, as from a pipe whose reader went away."""

    def write(self, text: str, /) -> int:
        """Raise BrokenPipeError, unless there is nothing to write."""
        if text:
            raise BrokenPipeError("standard output is closed")
        return 0


def fill_missing_streams() -> None:
    """Give the three streams something to be.

    Their numbers are taken too: the next socket or database would get one, and with it what is meant to be printed.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stdin is None:
        sys.stdin = io.StringIO()
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  lives as long as the process
