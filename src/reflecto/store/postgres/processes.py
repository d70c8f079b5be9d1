"""The processes of a server: each has a lease of a few seconds, which the database alone measures."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.schema import known_schema, require_readable

LEASE_SECONDS: Final = 5
RENEW_SECONDS: Final = 1.0
SWEEP_SECONDS: Final = 60.0

_UNTIL: Final = f"clock_timestamp() + interval '{LEASE_SECONDS} s'"
_REGISTER: Final = (
    f"INSERT INTO processes (id, live_until, version, schema, address) VALUES ($1, {_UNTIL}, $2, $3, $4) "
    f"ON CONFLICT (id) DO UPDATE SET live_until = {_UNTIL}"
)
_RENEW: Final = (
    f"UPDATE processes SET live_until = {_UNTIL} WHERE id = $1 AND live_until > clock_timestamp() RETURNING true"
)
_LEAVE: Final = "DELETE FROM processes WHERE id = $1"
_SWEEP: Final = (
    "DELETE FROM processes WHERE id IN (SELECT id FROM processes "
    "WHERE live_until < clock_timestamp() - interval '1 min' FOR UPDATE SKIP LOCKED) RETURNING id"
)
# What a process that is gone left behind of its writing connections; one that is away from the database for an hour
# has none in doubt.
_SWEEP_WRITERS: Final = (
    "DELETE FROM writers WHERE id IN (SELECT id FROM writers WHERE seen_at < clock_timestamp() - interval '1 h' "
    "AND NOT EXISTS (SELECT 1 FROM processes WHERE processes.id = split_part(writers.id, '.', 1)) "
    "FOR UPDATE SKIP LOCKED)"
)


@dataclass(frozen=True, slots=True)
class Process:
    """A process, as the others see it: which version of the server it is, and where it listens."""

    id: str
    version: str = ""
    address: str = ""


class Lease:
    """This process's lease. Whoever does not see it renewed takes its streams for gone."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._on_lost: Callable[[], None] = lambda: None
        self._on_gone: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None
        self._sweep_at = 0.0
        self.renew_at = 0.0  # by the loop's time

    def when_lost(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the lease has run out unrenewed."""
        self._on_lost = callback

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` once another process is gone that did not say so, in one of those that are left."""
        self._on_gone = callback

    async def register(self, connection: Connection) -> None:
        """Take a lease. Raises: NewerDatabaseError."""
        asked = asyncio.get_running_loop().time()
        each = self.process
        await connection.execute(_REGISTER, each.id, each.version, known_schema(), each.address)
        await require_readable(connection)  # from here on no newer version takes away what this one needs
        self._hold(asked)
        self._sweep_at = asked + SWEEP_SECONDS  # by then the others have registered too

    async def renew(self, connection: Connection) -> bool:
        """Renew the lease if it is time. False: it had run out, and there is a new one."""
        asked = asyncio.get_running_loop().time()
        if asked < self.renew_at:
            return True
        if asked >= self._sweep_at:
            self._sweep_at = asked + SWEEP_SECONDS
            if await connection.fetch(_SWEEP):
                self._on_gone()
            await connection.execute(_SWEEP_WRITERS)
        if await connection.fetchval(_RENEW, self.process.id):
            self._hold(asked)
            return True
        self._lose()
        await self.register(connection)
        return False

    async def leave(self, connection: Connection) -> None:
        """Give the lease back, and with it all that was said of this process."""
        self._release()
        await connection.execute(_LEAVE, self.process.id)

    def _hold(self, asked: float) -> None:
        """Count from when it was asked for: the database cannot have begun earlier, so this process ends it first."""
        self._release()
        self.renew_at = asked + RENEW_SECONDS
        self._timer = asyncio.get_running_loop().call_at(asked + LEASE_SECONDS, self._lose)

    def _lose(self) -> None:
        if self._timer is not None:
            self._release()
            self._on_lost()

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
