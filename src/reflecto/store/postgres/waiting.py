"""Requests that wait for the database: each hears something within ANSWER_SECONDS."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from reflecto.core.ports.store import OutcomeUnknownError, StoreUnavailableError

ANSWER_SECONDS: Final = 5.0
WAITING_MAX: Final = 20_000  # beyond this the database has stalled: refuse instead of piling up


class NobodyWaitsError(Exception):
    """Whoever asked was told that nothing happened, or that nobody knows: what has not happened must not any more."""


class Waiting:
    """Somebody who waits for a result. `is_undecided` tells whether it may be happening when they give up."""

    __slots__ = ("_timer", "future", "is_undecided")

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = loop.create_future()
        self.is_undecided: Callable[[], bool] = bool  # nothing has begun
        self._timer = loop.call_later(ANSWER_SECONDS, self.give_up)

    async def result(self) -> Any:
        """Return the result. Raises: StoreUnavailableError, nothing happened; OutcomeUnknownError, it may have."""
        try:
            return await self.future
        finally:
            self._timer.cancel()

    def give_up(self) -> None:
        """Let the request go. What nobody waits for any more is not begun, nor again."""
        if self.future.done():
            return
        if self.is_undecided():
            self.future.set_exception(OutcomeUnknownError("the database has not answered in time"))
        else:
            self.future.set_exception(StoreUnavailableError("the database is away or has stalled"))

    def succeed(self, result: object) -> None:
        """Hand out the result, if anybody still waits."""
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        """Hand out the error, if anybody still waits."""
        if not self.future.done():
            self.future.set_exception(error)
