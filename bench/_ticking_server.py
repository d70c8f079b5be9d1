"""`reflecto`, whose server's event loop notes when it was held up: a line per stall in the file that TICKS names.

A line has two times of the monotonic clock, which all processes of the machine share: when the loop should have come
round again, and when it did; and how many seconds of processor time the process used since the loop last came round.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import IO, Final
from unittest.mock import patch

import uvloop

from reflecto.cli.main import main

TICK_SECONDS: Final = 0.001
NOTED_SECONDS: Final = 0.002  # shorter ones are the machine's


def ticking_loop(file: IO[str]) -> asyncio.AbstractEventLoop:
    """Return the loop that the server runs on, ticking."""
    loop = uvloop.new_event_loop()
    due, used = time.monotonic() + TICK_SECONDS, time.process_time()

    def tick() -> None:
        nonlocal due, used
        now, used_now = time.monotonic(), time.process_time()
        if now - due > NOTED_SECONDS:
            file.write(f"{due} {now} {used_now - used}\n")
        used = used_now
        due = now + TICK_SECONDS
        loop.call_later(TICK_SECONDS, tick)

    loop.call_soon(tick)
    return loop


if __name__ == "__main__":
    with (
        Path(os.environ["TICKS"]).open("w", buffering=1, encoding="ascii") as ticks,
        patch("reflecto.server._loop_factory", lambda: lambda: ticking_loop(ticks)),  # where the server has it from
    ):
        main()
