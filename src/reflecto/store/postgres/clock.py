"""The server's clock is the database's: this machine's steady clock and an offset, taken now and then."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from reflecto.store.postgres.connection import Connection

SET_SECONDS: Final = 30.0

_NOW: Final = "SELECT extract(epoch FROM clock_timestamp())::float8"

# What the time was (Unix seconds), and when that was asked and answered, by `time.monotonic`.
SetClock = Callable[[float, float, float], None]


async def read_clock(connection: Connection, set_clock: SetClock) -> None:
    """Ask the database for the time."""
    asked = time.monotonic()
    now = await connection.fetchval(_NOW)
    set_clock(now, asked, time.monotonic())


class ClockSetting:
    """Takes the offset at each new connection and twice a minute."""

    def __init__(self, set_clock: SetClock) -> None:
        self._set_clock = set_clock
        self._due_at = 0.0

    async def begin(self, connection: Connection) -> None:
        """Take it: this may be another machine's clock."""
        await self._take(connection)

    async def turn(self, connection: Connection) -> None:
        """Take it if it is time."""
        if asyncio.get_running_loop().time() >= self._due_at:
            await self._take(connection)

    def due_at(self) -> float:
        """Return when it is time."""
        return self._due_at

    async def end(self, _connection: Connection) -> None:
        """Nothing has to be said."""

    async def _take(self, connection: Connection) -> None:
        self._due_at = asyncio.get_running_loop().time() + SET_SECONDS
        await read_clock(connection, self._set_clock)
