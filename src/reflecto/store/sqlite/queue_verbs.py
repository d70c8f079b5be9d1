"""The store's verbs on queues."""

import sqlite3
from collections.abc import Sequence

from reflecto.core.model import Delivery, QueueEntry
from reflecto.core.ports.store import Keep
from reflecto.core.rules.outcomes import Relaying, Sending
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.moving import EPOCH_FACT, EPOCH_SHIFT
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues, delete_step, send_to_queues
from reflecto.store.sqlite.statements import MAY_BE_PUSHED
from reflecto.store.tables import QUEUES


class QueueVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def append_to_queues(self, deliveries: Sequence[Delivery]) -> list[str]:
        return await self._database.write(lambda connection: append_to_queues(connection, deliveries, self._bounds))

    async def send_to_queues(self, deliveries: Sequence[Delivery], keep: Keep[Sending] | None = None) -> Sending:
        return await self._database.write(lambda connection: send_to_queues(connection, deliveries, self._bounds), keep)

    async def relay_to_queues(
        self, owner_id: str, deliveries: Sequence[Delivery], keep: Keep[Relaying] | None = None
    ) -> Relaying:
        def relay(connection: sqlite3.Connection) -> Relaying:
            rows = connection.execute("SELECT id FROM devices WHERE owner_id = ?", (owner_id,))
            involved = {delivery.device_id for delivery in deliveries} | {delivery.sender for delivery in deliveries}
            if not involved <= {row[0] for row in rows}:
                return Relaying.DEVICE_GONE
            reached = append_to_queues(connection, deliveries, self._bounds)
            return Relaying.QUEUED if reached else Relaying.QUEUES_FULL

        return await self._database.write(relay, keep)

    async def read_queue(
        self, device_id: str, after: int, limit: int, now: float, *, to_push: bool = False
    ) -> list[QueueEntry] | None:
        may_be_pushed = f"AND {MAY_BE_PUSHED}" if to_push else ""
        rows = self._database.rows(
            f"{QUEUES.select} WHERE device_id = :id AND seq > :after AND expires_at > :now {may_be_pushed} "
            "ORDER BY seq LIMIT :limit",
            {"id": device_id, "after": after, "now": now, "limit": limit},
        )
        if not rows and self._database.row("SELECT 1 FROM devices WHERE id = ?", (device_id,)) is None:
            return None
        return [QUEUES.of(row) for row in rows]

    async def number_from(self, seq: int) -> None:
        def number(connection: sqlite3.Connection) -> None:
            row = connection.execute("SELECT value FROM installation WHERE name = ?", (EPOCH_FACT,)).fetchone()
            above = seq + (int(row[0]) << EPOCH_SHIFT if row else 0)
            connection.execute("UPDATE devices SET last_seq = ? WHERE last_seq < ?", (above, above))

        await self._database.write_before_others(number)

    async def ack_queue(self, device_id: str, seq: int) -> bool:
        def ack_some(connection: sqlite3.Connection) -> bool | None:
            row = connection.execute("SELECT last_seq FROM devices WHERE id = ?", (device_id,)).fetchone()
            if row is None or seq > row[0]:
                return False
            _, were_all = delete_step(connection, "device_id = ? AND seq <= ? ORDER BY seq", device_id, seq)
            return True if were_all else None

        return await self._database.write_until_done(ack_some)
