"""The store's verbs on reminders."""

from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Reminder, ReminderDelivery
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_reminder
from reflecto.core.rules.outcomes import Addition
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.tables import REMINDERS

_ADD_DELIVERIES: Final = (  # a device removed since it was sealed for is left out
    "INSERT INTO reminder_deliveries (reminder_id, device_id, on_time, late) "
    "SELECT $1, devices.id, given.on_time, given.late FROM unnest($2::text[], $3::bytea[], $4::bytea[]) "
    "AS given (device_id, on_time, late) JOIN devices ON devices.id = given.device_id"
)


class ReminderVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def add_reminder(
        self, reminder: Reminder, deliveries: Sequence[ReminderDelivery], keep: Keep[Addition] | None = None
    ) -> Addition:
        async def add(transaction: Transaction) -> Addition:
            connection = transaction.connection
            needs = Needs(owners=(reminder.owner_id,), tokens=(reminder.token_id,), keep=keep)
            facts = await transaction.lock(needs)
            waiting = await connection.fetchval("SELECT count(*) FROM reminders WHERE owner_id = $1", reminder.owner_id)
            addition = judge_reminder(waiting, is_token_live=reminder.token_id in facts.tokens)
            if addition is Addition.ADDED:
                await connection.execute(REMINDERS.numbered_insert, *REMINDERS.row(reminder))
                await connection.execute(
                    _ADD_DELIVERIES,
                    reminder.id,
                    [each.device_id for each in deliveries],
                    [each.on_time for each in deliveries],
                    [each.late for each in deliveries],
                )
            return addition

        return await self._database.transactions.run(add)

    async def list_reminders(self, token_id: str) -> list[Reminder]:
        rows = await self._database.reads.rows(f"{REMINDERS.select} WHERE token_id = $1 ORDER BY fire_at, id", token_id)
        return [REMINDERS.of(row) for row in rows]

    async def drop_reminder(self, token_id: str, reminder_id: str) -> bool:
        async def drop(transaction: Transaction) -> bool:
            dropped = await transaction.connection.fetchval(
                "DELETE FROM reminders WHERE id = $1 AND token_id = $2 RETURNING true", reminder_id, token_id
            )
            return dropped is not None

        return await self._database.transactions.run(drop)

    async def list_due_reminders(self, now: float, limit: int) -> list[tuple[str, int]]:
        rows = await self._database.reads.rows(
            "SELECT id, fire_at FROM reminders WHERE greatest(fire_at, retry_at) <= $1::bigint "
            "ORDER BY greatest(fire_at, retry_at), id LIMIT $2",
            int(now),
            limit,
        )
        return [(reminder_id, fire_at) for reminder_id, fire_at in rows]

    async def fire_reminder(
        self, reminder_id: str, expires_at: int, *, late: bool, retry_at: int | None = None
    ) -> list[str] | None:
        form = "late" if late else "on_time"

        async def fire(transaction: Transaction) -> list[str] | None:
            connection = transaction.connection
            owner_id = await connection.fetchval("SELECT owner_id FROM reminders WHERE id = $1", reminder_id)
            if owner_id is None:
                return None
            facts = await transaction.lock(Needs(owners=(owner_id,)))
            if not await connection.fetchval("SELECT true FROM reminders WHERE id = $1 FOR UPDATE", reminder_id):
                return None
            rows = await connection.fetch(
                f"SELECT device_id, {form} FROM reminder_deliveries WHERE reminder_id = $1", reminder_id
            )
            deliveries = [Delivery(device_id, blob, expires_at) for device_id, blob in rows]
            reached = facts.append(deliveries)
            if deliveries and not reached and retry_at is not None:
                await connection.execute("UPDATE reminders SET retry_at = $2 WHERE id = $1", reminder_id, retry_at)
                return []
            await connection.execute("DELETE FROM reminders WHERE id = $1", reminder_id)
            return reached

        return await self._database.transactions.run(fire)
