"""The database's primary: found among several hosts, and never an old one that came back."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.addresses import split_addresses, without_password
from reflecto.store.postgres.connection import LOST, Connection, Host, open_connection

PAUSE_SECONDS: Final = 0.2  # between two rounds of looking for it
FIRST_SECONDS: Final = 5  # how long a start looks for it

logger = logging.getLogger(__name__)


class Primary:
    """Finds the host that may be written to. One for all connections of a process."""

    def __init__(self, address: str) -> None:
        self._addresses = split_addresses(address)
        self.shown = without_password(address)
        self._timeline = 0
        self._is_away = False
        self._closed = asyncio.Event()

    async def connect(self) -> Connection:
        """Return a new connection to it, however long that takes. Raises: StoreUnavailableError once closed."""
        while not self._closed.is_set():
            connection, reason = await self._look()
            if connection is not None:
                self._report(None)
                return connection
            self._report(reason)
            await self.pause(PAUSE_SECONDS)
        raise StoreUnavailableError("the store is closed")

    async def connect_first(self) -> Connection:
        """Return a connection at the start of a process. Raises: StoreUnavailableError with the reason, soon."""
        until = asyncio.get_running_loop().time() + FIRST_SECONDS
        while True:
            connection, reason = await self._look()
            if connection is not None:
                return connection
            if asyncio.get_running_loop().time() >= until:
                raise StoreUnavailableError(f"{self.shown}: {reason}")
            await self.pause(PAUSE_SECONDS)

    def close(self) -> None:
        """Stop looking."""
        self._closed.set()

    async def pause(self, seconds: float) -> None:
        """Wait that long, or until `close`."""
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except TimeoutError:
            pass

    async def _look(self) -> tuple[Connection | None, str]:
        """Ask every host at once; take the writable one with the highest timeline, or say why there is none."""
        found = await asyncio.gather(*map(open_connection, self._addresses), return_exceptions=True)
        hosts = [each for each in found if isinstance(each, Host)]
        reasons = [str(each) or type(each).__name__ for each in found if not isinstance(each, Host)]
        for each in found:
            if isinstance(each, BaseException) and not isinstance(each, (*LOST, asyncpg.PostgresError)):
                _drop(hosts)
                raise each
        writable = sorted((each for each in hosts if not each.in_recovery), key=lambda each: each.timeline)
        if not writable:
            _drop(hosts)
            return None, "; ".join(reasons or ["every host is a standby"])
        best = writable[-1]
        _drop([each for each in hosts if each is not best])
        if best.timeline < self._timeline:
            _drop([best])
            return None, f"a primary of timeline {best.timeline} came back, but {self._timeline} has been seen"
        self._timeline = best.timeline
        return best.connection, ""

    def _report(self, trouble: str | None) -> None:
        """Log when the database goes and comes back, not each try between."""
        if trouble is not None and not self._is_away:
            logger.error("store unavailable: %s (%s); requests get 503 until it recovers", trouble, self.shown)
        elif trouble is None and self._is_away:
            logger.warning("store available again (%s)", self.shown)
        self._is_away = trouble is not None


def _drop(hosts: Sequence[Host]) -> None:
    for each in hosts:
        each.connection.terminate()
