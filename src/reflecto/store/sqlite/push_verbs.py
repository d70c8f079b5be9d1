"""The store's verbs on push subscriptions."""

import sqlite3

from reflecto.core.model import PushBacklog, PushSubscription, PushTarget
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.statements import MAY_BE_PUSHED
from reflecto.store.tables import PUSH_SUBSCRIPTIONS


class PushVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def set_push_subscription(self, device_id: str, subscription: PushSubscription | None) -> bool:
        def replace(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT last_seq FROM devices WHERE id = ?", (device_id,)).fetchone()
            if row is None:
                return False
            endpoint = subscription.endpoint if subscription else None
            connection.execute(
                "DELETE FROM push_subscriptions WHERE device_id = ? OR endpoint = ?", (device_id, endpoint)
            )
            if subscription is not None:
                connection.execute(
                    f"INSERT INTO push_subscriptions (device_id, since_seq, {PUSH_SUBSCRIPTIONS.columns}) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (device_id, row[0], *PUSH_SUBSCRIPTIONS.row(subscription)),
                )
            return True

        return await self._database.write(replace)

    async def find_push_target(self, device_id: str) -> PushTarget | None:
        row = self._database.row(
            f"SELECT owner_id, since_seq, last_seq, {PUSH_SUBSCRIPTIONS.columns} FROM push_subscriptions "
            "JOIN devices ON devices.id = device_id WHERE device_id = ?",
            (device_id,),
        )
        if row is None:
            return None
        owner_id, since_seq, last_seq, *subscription = row
        return PushTarget(owner_id, PUSH_SUBSCRIPTIONS.of(subscription), since_seq, last_seq)

    async def drop_push_subscription(self, device_id: str, endpoint: str) -> bool:
        def drop(connection: sqlite3.Connection) -> bool:
            dropped = connection.execute(
                "DELETE FROM push_subscriptions WHERE device_id = ? AND endpoint = ?", (device_id, endpoint)
            )
            return dropped.rowcount == 1

        return await self._database.write(drop, frees=True)

    async def list_push_backlog(self, now: float) -> list[PushBacklog]:
        rows = self._database.rows(
            "SELECT id, last_seq FROM push_subscriptions JOIN devices ON id = push_subscriptions.device_id "
            f"WHERE EXISTS (SELECT 1 FROM queue WHERE queue.device_id = id AND expires_at > :now AND {MAY_BE_PUSHED})",
            {"now": now},
        )
        return [PushBacklog(*row) for row in rows]
