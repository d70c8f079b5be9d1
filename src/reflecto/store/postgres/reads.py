"""Reads, gathered: those of one kind that come while others are under way are one statement.

A single read costs twenty times the Python of a gathered one. They are answered by the primary, after the first commit
of their connection has come back, so that all they show is replicated.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import asyncpg

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres.connection import STUCK_SECONDS, Connection, is_lost, terminated_after
from reflecto.store.postgres.waiting import WAITING_MAX, Waiting

Row = Sequence[Any]
Rows = list[Row]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gathered:
    """A statement that answers many at once: each parameter is an array with a value for each of them.

    Its first column is the place of the one a row is for, counted from 1 (`unnest(…) WITH ORDINALITY`).
    """

    sql: str


class _Wanted(Waiting):
    __slots__ = ("parameters", "statement")

    def __init__(self, statement: Gathered | str, parameters: Sequence[Any]) -> None:
        super().__init__()
        self.statement = statement
        self.parameters = parameters


class Reads:
    """Reads on one connection, which `connect` opens whenever there is none."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._waiting: list[_Wanted] = []
        self._arrived = asyncio.Event()
        self._closed = False
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def gathered(self, statement: Gathered, *parameters: Any) -> Rows:
        """Return the rows for these parameters, without the place. Raises: StoreUnavailableError."""
        return await self._read(statement, parameters)

    async def rows(self, sql: str, *parameters: Any) -> Rows:
        """Return the rows of a statement of its own. Raises: StoreUnavailableError."""
        return await self._read(sql, parameters)

    async def row(self, sql: str, *parameters: Any) -> Row | None:
        """Return the first row. Raises: StoreUnavailableError."""
        rows = await self._read(sql, parameters)
        return rows[0] if rows else None

    async def close(self) -> None:
        """Stop, once nothing connects any more; who still waits gets StoreUnavailableError."""
        self._closed = True
        self._arrived.set()
        self.drop()
        await self._task
        for each in self._waiting:
            each.give_up()
        self.drop()

    def drop(self) -> None:
        """Give the connection up without a word to the server."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _read(self, statement: Gathered | str, parameters: Sequence[Any]) -> Rows:
        if self._closed or len(self._waiting) >= WAITING_MAX:
            raise StoreUnavailableError("the store is closed" if self._closed else "the database has stalled")
        wanted = _Wanted(statement, parameters)
        self._waiting.append(wanted)
        self._arrived.set()
        return cast("Rows", await wanted.result())

    async def _work(self) -> None:
        while not self._closed:
            await self._arrived.wait()
            self._arrived.clear()
            waiting, self._waiting = self._waiting, []
            kinds: dict[Gathered | str, list[_Wanted]] = {}
            for each in waiting:
                kinds.setdefault(each.statement, []).append(each)
            for statement, group in kinds.items():
                await self._answer(statement, group)

    async def _answer(self, statement: Gathered | str, group: list[_Wanted]) -> None:
        """Answer all; a reading that was lost with its connection is done again on the next one."""
        while live := [each for each in group if not each.future.done()]:
            try:
                connection = await self._ready()
                with terminated_after(connection, STUCK_SECONDS):
                    await _fetch(connection, statement, live)
            except (asyncpg.InvalidCachedStatementError, asyncpg.OutdatedSchemaCacheError):
                continue
            except StoreUnavailableError as error:
                _fail(live, error)
            except Exception as error:
                if is_lost(error, self._connection):
                    self.drop()
                elif len(live) > 1:  # of one reading's parameters: it alone shall have it
                    for each in live:
                        await self._answer(statement, [each])
                elif isinstance(error, asyncpg.PostgresError):
                    _fail(live, StoreUnavailableError(str(error)))
                else:
                    logger.exception("a reading failed")
                    _fail(live, error)

    async def _ready(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection


async def _fetch(connection: Connection, statement: Gathered | str, group: list[_Wanted]) -> None:
    if isinstance(statement, str):
        for each in group:
            each.succeed(await connection.fetch(statement, *each.parameters))
        return
    columns = [list(values) for values in zip(*(each.parameters for each in group), strict=True)]
    answers: list[list[Sequence[Any]]] = [[] for _ in group]
    for row in await connection.fetch(statement.sql, *columns):
        place, *values = row
        answers[place - 1].append(values)
    for each, rows in zip(group, answers, strict=True):
        each.succeed(rows)


def _fail(group: list[_Wanted], error: Exception) -> None:
    for each in group:
        each.fail(error)
