"""Work on a long body, away from the event loop, which would answer nobody meanwhile.

One thread for all: each more would take its turn with Python's lock before the loop has its own.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

R = TypeVar("R")

INLINE_MAX_BYTES: Final = 8_192  # of what costs the loop at most some milliseconds, however many values it has
_THREAD: Final = ThreadPoolExecutor(1, "long bodies")


async def work_on(body: bytes, work: Callable[[bytes], R]) -> R:
    """Return `work(body)`, done in the thread where the body is long."""
    if len(body) <= INLINE_MAX_BYTES:
        return work(body)
    return await asyncio.get_running_loop().run_in_executor(_THREAD, work, body)
