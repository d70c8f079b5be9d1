"""The store's verbs on reminders."""

import sqlite3
from collections.abc import Sequence

from reflecto.core.model import Delivery, Reminder, ReminderDelivery
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_reminder
from reflecto.core.rules.outcomes import Addition
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues
from reflecto.store.sqlite.statements import is_live_token
from reflecto.store.tables import REMINDERS


class ReminderVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def add_reminder(
        self, reminder: Reminder, deliveries: Sequence[ReminderDelivery], keep: Keep[Addition] | None = None
    ) -> Addition:
        def add(connection: sqlite3.Connection) -> Addition:
            (waiting,) = connection.execute(
                "SELECT count(*) FROM reminders WHERE owner_id = ?", (reminder.owner_id,)
            ).fetchone()
            addition = judge_reminder(waiting, is_token_live=is_live_token(connection, reminder.token_id))
            if addition is not Addition.ADDED:
                return addition
            connection.execute(REMINDERS.insert, REMINDERS.row(reminder))
            connection.executemany(  # a device removed since it was sealed for is left out
                "INSERT INTO reminder_deliveries (reminder_id, device_id, on_time, late) "
                "SELECT ?, id, ?, ? FROM devices WHERE id = ?",
                [(reminder.id, each.on_time, each.late, each.device_id) for each in deliveries],
            )
            return Addition.ADDED

        return await self._database.write(add, keep)

    async def list_reminders(self, token_id: str) -> list[Reminder]:
        rows = self._database.rows(f"{REMINDERS.select} WHERE token_id = ? ORDER BY fire_at, id", (token_id,))
        return [REMINDERS.of(row) for row in rows]

    async def drop_reminder(self, token_id: str, reminder_id: str) -> bool:
        def drop(connection: sqlite3.Connection) -> bool:
            dropped = connection.execute("DELETE FROM reminders WHERE id = ? AND token_id = ?", (reminder_id, token_id))
            return dropped.rowcount == 1

        return await self._database.write(drop, frees=True)

    async def list_due_reminders(self, now: float, limit: int) -> list[tuple[str, int]]:
        return self._database.rows(
            "SELECT id, fire_at FROM reminders WHERE max(fire_at, retry_at) <= ? "
            "ORDER BY max(fire_at, retry_at), id LIMIT ?",
            (now, limit),
        )

    async def fire_reminder(
        self, reminder_id: str, expires_at: int, *, late: bool, retry_at: int | None = None
    ) -> list[str] | None:
        def fire(connection: sqlite3.Connection) -> list[str] | None:
            form = "late" if late else "on_time"
            rows = connection.execute(
                f"SELECT device_id, {form} FROM reminder_deliveries WHERE reminder_id = ?", (reminder_id,)
            ).fetchall()
            deliveries = [Delivery(device_id, blob, expires_at) for device_id, blob in rows]
            reached = append_to_queues(connection, deliveries, self._bounds)
            if deliveries and not reached and retry_at is not None:
                connection.execute("UPDATE reminders SET retry_at = ? WHERE id = ?", (retry_at, reminder_id))
                return []
            if connection.execute("DELETE FROM reminders WHERE id = ?", (reminder_id,)).rowcount == 0:
                return None
            return reached

        return await self._database.write(fire)
