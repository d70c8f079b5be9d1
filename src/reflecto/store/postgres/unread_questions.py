"""`core.ports.unread.UnreadQuestions`: a row for each, with the process that is asking it.

A call that comes again because its process was killed comes before anybody knows that. So while another process is
asking the same, a call waits for a sign of life of that process: it comes within a second, or its lease runs out.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from reflecto.core.ports.unread import UnreadQuestion
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.transactions import Transaction

CLAIMED_MAX: Final = 100  # in one look
LOOK_SECONDS: Final = 0.2  # for a sign of life

_TAKE_UP: Final = (
    "SELECT key FROM unread_questions AS unread WHERE token_id = $1 AND content_mark = $2 AND (process_id IS NULL "
    "OR NOT EXISTS (SELECT 1 FROM processes WHERE id = unread.process_id AND live_until > clock_timestamp())) "
    "ORDER BY withdraw_at, key LIMIT 1 FOR UPDATE OF unread SKIP LOCKED"
)
_ASKED_ELSEWHERE: Final = (
    "SELECT processes.id, processes.live_until FROM unread_questions AS unread "
    "JOIN processes ON processes.id = unread.process_id WHERE token_id = $1 AND content_mark = $2 "
    "AND unread.process_id <> $3 AND live_until > clock_timestamp()"
)
_ASK: Final = (
    "INSERT INTO unread_questions (key, token_id, content_mark, repeat_mark, withdraw_at, process_id) "
    "VALUES ($1, $2, $3, $4, $5, $6)"
)
_DUE: Final = "SELECT 1 FROM unread_questions WHERE withdraw_at <= $1::float8 LIMIT 1"
_CLAIM_DUE: Final = (
    "UPDATE unread_questions SET withdraw_at = $2, process_id = $3 WHERE key = ANY(ARRAY("
    "SELECT key FROM unread_questions WHERE withdraw_at <= $1::float8 ORDER BY withdraw_at "
    f"LIMIT {CLAIMED_MAX} FOR UPDATE SKIP LOCKED)) RETURNING key, token_id, content_mark, repeat_mark, withdraw_at"
)


class PostgresUnreadQuestions:
    """The unread questions of all processes on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, question: UnreadQuestion) -> str:
        """Note that this process asks it, and return under which key."""
        process_id = self._database.process_id
        await self._see_others_live(question)

        async def ask(transaction: Transaction) -> str:
            connection = transaction.connection
            key = await connection.fetchval(_TAKE_UP, question.token_id, question.content_mark)
            if key is not None:
                await connection.execute(
                    "UPDATE unread_questions SET process_id = $2, withdraw_at = $3 WHERE key = $1",
                    key,
                    process_id,
                    question.withdraw_at,
                )
                return str(key)
            await connection.execute(
                _ASK,
                question.key,
                question.token_id,
                question.content_mark,
                question.repeat_mark,
                question.withdraw_at,
                process_id,
            )
            return question.key

        return await self._database.transactions.run(ask)

    async def _see_others_live(self, question: UnreadQuestion) -> None:
        """Return once each process that asks the same has renewed its lease, or has lost it, or has done."""
        first: dict[str, Any] = {}
        while True:
            rows = await self._database.reads.rows(
                _ASKED_ELSEWHERE, question.token_id, question.content_mark, self._database.process_id
            )
            if all(live_until > first.setdefault(process_id, live_until) for process_id, live_until in rows):
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await asyncio.Event().wait()

    async def keep(self, key: str, withdraw_at: float) -> None:
        """Let the same call take it up."""
        await self._execute(
            "UPDATE unread_questions SET process_id = NULL, withdraw_at = $2 WHERE key = $1", key, withdraw_at
        )

    async def drop(self, key: str) -> None:
        """Forget it."""
        await self._execute("DELETE FROM unread_questions WHERE key = $1", key)

    async def claim_due(self, now: float, again_at: float) -> Sequence[UnreadQuestion]:
        """Return some that are to be withdrawn now."""

        async def claim(transaction: Transaction) -> list[UnreadQuestion]:
            rows = await transaction.connection.fetch(_CLAIM_DUE, now, again_at, self._database.process_id)
            return [UnreadQuestion(*row) for row in rows]

        if not await self._database.reads.row(_DUE, now):
            return []  # nearly always; a write would be a commit each second
        return await self._database.transactions.run(claim)

    async def _execute(self, statement: str, *parameters: Any) -> None:
        async def run(transaction: Transaction) -> None:
            await transaction.connection.execute(statement, *parameters)

        await self._database.transactions.run(run)
