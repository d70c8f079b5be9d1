"""How long to wait before trying again: exponential, with jitter, so that a restarted server is not stampeded."""

import random
from collections.abc import Callable
from typing import Final

FIRST_SECONDS: Final = 0.5
MAX_SECONDS: Final = 30.0
ASKED_MAX_SECONDS: Final = 300.0  # what a `Retry-After` can make of it
SETTLED_SECONDS: Final = 10.0  # a connection that held this long was a good one


class Backoff:
    """Delays that double from half a second to half a minute, each drawn from its upper half.

    `draw(low, high)` is `random.uniform` unless a test brings its own.
    """

    def __init__(self, draw: Callable[[float, float], float] = random.uniform) -> None:
        self._draw = draw
        self._failures = 0

    def next_delay(self, retry_after_seconds: float | None = None) -> float:
        """Return the seconds to wait now; not less than what the server asked for, up to five minutes."""
        ceiling = min(MAX_SECONDS, FIRST_SECONDS * 2 ** min(self._failures, 16))
        self._failures += 1
        return max(self._draw(ceiling / 2, ceiling), min(retry_after_seconds or 0.0, ASKED_MAX_SECONDS))

    def reset(self) -> None:
        """Start over: the other end works."""
        self._failures = 0
