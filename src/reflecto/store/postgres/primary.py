"""The database's primary: found among several hosts, and never an old one that came back."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.addresses import split_addresses, without_password
from reflecto.store.postgres.commit import Commits
from reflecto.store.postgres.connection import (
    STUCK_SECONDS,
    Connection,
    Host,
    is_lost,
    open_connection,
    terminated_after,
)
from reflecto.store.postgres.epoch import Numbers

PAUSE_SECONDS: Final = 0.2  # between two rounds of looking for it
FIRST_SECONDS: Final = 5.0  # how long a start looks for it

_PROVE: Final = (
    "INSERT INTO writers (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp() "
    "RETURNING batch"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Proven:
    """A connection whose first commit has come back. `batch`: what the row of its writer has counted so far."""

    connection: Connection
    commits: Commits
    batch: int


class _NoPrimaryError(Exception):
    """No host may be written to; the text says why."""


class Primary:
    """Finds the host that may be written to. One for all connections of a process; `numbers` follow its epoch."""

    def __init__(self, address: str) -> None:
        self.shown = without_password(address)
        self.numbers = Numbers()
        self._addresses = split_addresses(address)
        self._system_identifier: int | None = None
        self._timeline = 0
        self._given: dict[Connection, int] = {}  # timelines
        self._names: set[str] = set()  # of the connections that were proven at least once
        self._is_away = False
        self._closed = asyncio.Event()

    async def connect(self, name: str) -> Proven:
        """Return a new connection whose first commit has come back, however long that takes.

        With a synchronous standby that commit waits for it: an old primary that came back without one never gets so
        far, and what this one shows is replicated. `name` is the connection's row in `writers`, whose lock waits for
        what an earlier connection of that name has left undecided. Raises: StoreUnavailableError once closed.
        """
        while not self._closed.is_set():
            try:
                host = await self._look()
                proven = await self._prove(host, name)
            except _NoPrimaryError as error:
                self._report(str(error))
            else:
                self._report(None)
                return proven
            await self.pause(PAUSE_SECONDS)
        raise StoreUnavailableError("the store is closed")

    async def connect_first(self) -> Connection:
        """Return a connection at the start of a process, before the schema is there to prove it by.

        Raises: StoreUnavailableError with the reason, soon.
        """
        until = asyncio.get_running_loop().time() + FIRST_SECONDS
        while True:
            try:
                return (await self._look()).connection
            except _NoPrimaryError as error:
                if asyncio.get_running_loop().time() >= until:
                    raise StoreUnavailableError(f"{self.shown}: {error}") from None
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

    async def _look(self) -> Host:
        """Ask every host at once and return the writable one with the highest timeline. Raises: _NoPrimaryError."""
        found = await asyncio.gather(*map(open_connection, self._addresses), return_exceptions=True)
        hosts = [each for each in found if isinstance(each, Host)]
        reasons = []
        for each in found:
            if isinstance(each, Host):
                continue
            if not (is_lost(each, None) or isinstance(each, (asyncpg.PostgresError, asyncpg.InterfaceError))):
                _drop(hosts)
                raise each
            reasons.append(str(each) or type(each).__name__)
        best = max((each for each in hosts if not each.in_recovery), key=lambda each: each.timeline, default=None)
        _drop([each for each in hosts if each is not best])
        if best is None:
            raise _NoPrimaryError("; ".join(reasons or ["every host is a standby"]))
        try:
            self._judge(best)
        except _NoPrimaryError:
            _drop([best])
            raise
        return best

    def _judge(self, host: Host) -> None:
        """Refuse a primary that is not, or no longer, the one that this process works with."""
        if self._system_identifier not in {None, host.system_identifier}:
            raise _NoPrimaryError("this is another database than at the start; restart the server if that is meant")
        if host.timeline < self._timeline:
            raise _NoPrimaryError(
                f"a primary of timeline {host.timeline} came back, but {self._timeline} has been seen: it is refused"
            )
        self._system_identifier = host.system_identifier
        if host.timeline > self._timeline:
            self._timeline = host.timeline
            for connection in [each for each, timeline in self._given.items() if timeline < host.timeline]:
                connection.terminate()

    async def _prove(self, host: Host, name: str) -> Proven:
        """Make the first commit, which finds the epoch as well. Raises: _NoPrimaryError."""
        connection = host.connection
        commits = Commits(connection, name)
        try:
            with terminated_after(connection, STUCK_SECONDS):
                await connection.execute("BEGIN")
                batch = await connection.fetchval(_PROVE, name)
                await self.numbers.settle(host, is_first=name not in self._names)
                await commits.commit()
        except Exception as error:
            connection.terminate()
            if isinstance(error, asyncpg.LockNotAvailableError):
                raise _NoPrimaryError("an earlier commit is still undecided") from None
            if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
                raise _NoPrimaryError(f"it may not be written to: {error}") from None
            if is_lost(error, connection):
                raise _NoPrimaryError("its commits do not come back: is the synchronous standby away?") from None
            if isinstance(error, asyncpg.PostgresError):  # such as a full disk
                raise _NoPrimaryError(str(error)) from None
            raise
        if host.timeline < self._timeline:  # another connection has found the next primary meanwhile
            connection.terminate()
            raise _NoPrimaryError(f"timeline {host.timeline} is over")
        self._names.add(name)
        self._given[connection] = host.timeline
        connection.add_termination_listener(self._forget)
        return Proven(connection, commits, batch)

    def _forget(self, connection: Any) -> None:
        self._given.pop(connection, None)

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
