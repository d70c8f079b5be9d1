"""`core.ports.presence.Presence` among several processes: each says which devices it has a stream of."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.processes import Lease
from reflecto.store.postgres.reads import Gathered, Reads

_CLEAR: Final = "DELETE FROM presence WHERE process_id = $1"
_OPEN: Final = (
    "INSERT INTO presence (process_id, device_id) SELECT $1, each FROM unnest($2::text[]) AS each "
    "ON CONFLICT DO NOTHING"
)
_CLOSE: Final = "DELETE FROM presence WHERE process_id = $1 AND device_id = ANY($2::text[])"
_CONNECTED: Final = Gathered(
    "SELECT DISTINCT wanted.place FROM unnest($1::text[]) WITH ORDINALITY AS wanted (device_id, place) "
    "JOIN presence ON presence.device_id = wanted.device_id "
    "JOIN processes ON processes.id = presence.process_id AND processes.live_until > clock_timestamp()"
)


class PostgresPresence:
    """Who is connected, here or elsewhere. What was opened and closed here is written down a moment later, in order."""

    def __init__(self, lease: Lease, reads: Reads, wake: Callable[[], None]) -> None:
        self._process_id = lease.process.id
        self._lease = lease
        self._reads = reads
        self._wake = wake
        self._here: set[str] = set()
        self._changed: set[str] = set()  # opened or closed since the last turn

    def open(self, device_id: str) -> None:
        """This process holds a stream of the device from now on."""
        self._here.add(device_id)
        self._note(device_id)

    def close(self, device_id: str) -> None:
        """This process holds no stream of the device any more."""
        self._here.discard(device_id)
        self._note(device_id)

    async def connected(self, device_ids: Collection[str]) -> frozenset[str]:
        """Return those of the devices that have a stream open. Raises: StoreUnavailableError."""
        found = self._here.intersection(device_ids)
        others = [each for each in device_ids if each not in found]
        rows = await asyncio.gather(*(self._reads.gathered(_CONNECTED, each) for each in others))
        return frozenset(found.union(each for each, row in zip(others, rows, strict=True) if row))

    async def begin(self, connection: Connection) -> None:
        """Take a lease, and say who is here."""
        await self._lease.register(connection)
        await self._say_all(connection)

    async def turn(self, connection: Connection) -> None:
        """Renew the lease, and say what has changed."""
        if not await self._lease.renew(connection):
            await self._say_all(connection)
        if self._changed:
            changed, self._changed = self._changed, set()
            opened, closed = changed & self._here, changed - self._here
            if closed:
                await connection.execute(_CLOSE, self._process_id, list(closed))
            if opened:
                await connection.execute(_OPEN, self._process_id, list(opened))

    def due_at(self) -> float:
        """Return when the lease is to be renewed."""
        return self._lease.renew_at

    async def end(self, connection: Connection) -> None:
        """Give the lease back, and with it what was said."""
        await self._lease.leave(connection)

    def _note(self, device_id: str) -> None:
        self._changed.add(device_id)
        self._wake()

    async def _say_all(self, connection: Connection) -> None:
        self._changed = set()
        await connection.execute(_CLEAR, self._process_id)
        await connection.execute(_OPEN, self._process_id, list(self._here))
