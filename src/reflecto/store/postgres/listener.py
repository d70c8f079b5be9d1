"""The connection for what the processes of a server share: one a process, on which duties take their turns.

Nothing that is written on it is promised to anybody, so its commits wait for no disk (`synchronous_commit=off`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Protocol

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.connection import LOST, Connection, is_lost

STUCK_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.2  # before another connection is tried

logger = logging.getLogger(__name__)


class Duty(Protocol):
    """Something that is done on the listener's connection."""

    async def begin(self, connection: Connection) -> None:
        """The connection is new: nothing that was said or heard before is sure to be there."""

    async def turn(self, connection: Connection) -> None:
        """Do what there is to do now."""

    def due_at(self) -> float:
        """Return when the next turn has to come, by the loop's time, if nobody wakes the listener before."""

    async def end(self, connection: Connection) -> None:
        """The process stops."""


class Listener:
    """Runs duties on a connection that `connect` opens whenever there is none."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._duties: list[Duty] = []
        self._connection: Connection | None = None
        self._woken = asyncio.Event()
        self._closed = False
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, duty: Duty) -> None:
        """Let `duty` have its turn behind the others."""
        self._duties.append(duty)

    def start(self) -> None:
        """Begin. A process that only looks something up never does."""
        if self._task is None and not self._closed:
            self._task = asyncio.get_running_loop().create_task(self._work())

    def wake(self) -> None:
        """Give every duty a turn as soon as can be."""
        self._woken.set()

    async def close(self) -> None:
        """Stop, and let the duties say so."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._connection is not None:
            with suppress(*LOST, asyncpg.PostgresError):  # what was said of this process runs out by itself
                async with asyncio.timeout(STUCK_SECONDS):
                    for duty in self._duties:
                        await duty.end(self._connection)
        self._drop()

    async def _work(self) -> None:
        while not self._closed:  # a cancellation can be lost inside the driver
            self._woken.clear()
            try:
                await self._give_turns()
            except (*LOST, asyncpg.PostgresError, StoreUnavailableError) as error:
                if self._closed:
                    return
                self._report(None if is_lost(error, self._connection) else str(error))
                self._drop()
                await _pause()
                continue
            except Exception:  # whatever it was: without this connection nothing is counted or heard any more
                logger.exception("what the processes share failed, and begins anew")
                self._drop()
                await _pause()
                continue
            await self._wait(min(each.due_at() for each in self._duties) - asyncio.get_running_loop().time())

    async def _give_turns(self) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = None
            connection = await self._connect()
            begun: list[Duty] = self._duties
        else:
            connection, begun = self._connection, []
        watchdog = asyncio.get_running_loop().call_later(STUCK_SECONDS, connection.terminate)
        try:
            if begun:
                await connection.execute("SET synchronous_commit = off")
            for duty in begun:
                await duty.begin(connection)
            self._connection = connection
            for duty in self._duties:
                await duty.turn(connection)
        finally:
            watchdog.cancel()
            if self._connection is not connection:
                connection.terminate()

    async def _wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _report(self, trouble: str | None) -> None:
        """Log what is wrong with the database, though it answers, once and not at each try."""
        if trouble is not None and trouble != self._trouble:
            logger.error("store unavailable: %s", trouble)
        self._trouble = trouble

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


async def _pause() -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(PAUSE_SECONDS):
            await asyncio.Event().wait()
