"""The store's verbs on tethered questions: who waits, and what nobody waits for."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Interaction
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.core.rules.tethers import judge_abandonment, judge_hold
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues, delete_prompts
from reflecto.store.sqlite.statements import find_interaction
from reflecto.store.tables import INTERACTIONS

_NOTE: Final = "UPDATE interactions SET awaited_until = ? WHERE id = ?"


class TetherVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def hold_tether(self, interaction_id: str, until: float, now: float) -> Interaction | None:
        def hold(connection: sqlite3.Connection) -> Interaction | None:
            found = find_interaction(connection, interaction_id, now)
            held = judge_hold(found, until, now) if found else None
            if held is not None and held is not found:
                connection.execute(_NOTE, (held.awaited_until, interaction_id))
            return held

        return await self._database.write(hold, frees=True)

    async def release_tether(self, interaction_id: str, until: float, now: float) -> None:
        await self._database.write(
            lambda connection: connection.execute(
                f"{_NOTE} AND status = 'pending' AND awaited_until = ?", (now, interaction_id, until)
            ),
            frees=True,
        )

    async def close_if_abandoned(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float
    ) -> Interaction | None:
        def close(connection: sqlite3.Connection) -> Interaction | None:
            found = find_interaction(connection, interaction_id, now)
            ended = judge_abandonment(found, now) if found else None
            if ended is None:
                return None
            connection.execute(
                "UPDATE interactions SET status = ?, ended_at = ?, reason = ? WHERE id = ?",
                (ended.status, ended.ended_at, ended.reason, interaction_id),
            )
            delete_prompts(connection, ended)
            append_to_queues(connection, withdrawals, self._bounds)
            return ended

        return await self._database.write(close, frees=True)

    async def list_abandoned(self, now: float) -> list[Interaction]:
        rows = self._database.rows(
            f"{INTERACTIONS.select} WHERE status = 'pending' AND tether IS NOT NULL "
            "AND awaited_until + tether <= :now AND awaited_until + tether < expires_at",
            {"now": now},
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def spare_tethered(self, now: float) -> None:
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE interactions SET awaited_until = :now "
                "WHERE status = 'pending' AND tether IS NOT NULL AND expires_at > :now",
                {"now": now},
            ),
            frees=True,
        )
