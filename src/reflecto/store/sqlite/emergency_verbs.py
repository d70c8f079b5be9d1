"""The store's verbs on emergencies."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Emergency, EmergencyEnd
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_emergency
from reflecto.core.rules.emergencies import is_kept, judge_end, next_call
from reflecto.core.rules.outcomes import Addition, EmergencyEndResult, Sending, Verdict
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues, send_to_queues
from reflecto.store.sqlite.statements import is_device, is_live_token
from reflecto.store.tables import EMERGENCIES

_ACTIVE: Final = "status = 'active' AND expires_at > ?"


class EmergencyVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def add_emergency(
        self,
        emergency: Emergency,
        tag_hashes: Sequence[bytes],
        blobs: Sequence[tuple[str, bytes]],
        deliveries: Sequence[Delivery],
        keep: Keep[tuple[Addition, Sending]] | None = None,
    ) -> tuple[Addition, Sending]:
        def add(connection: sqlite3.Connection) -> tuple[Addition, Sending]:
            (active,) = connection.execute(
                f"SELECT count(*) FROM emergencies WHERE owner_id = ? AND {_ACTIVE}",
                (emergency.owner_id, emergency.created_at),
            ).fetchone()
            addition = judge_emergency(active, is_token_live=is_live_token(connection, emergency.token_id))
            if addition is not Addition.ADDED:
                return addition, Sending()
            connection.execute(EMERGENCIES.insert, EMERGENCIES.row(emergency))
            connection.executemany(
                "INSERT OR IGNORE INTO emergency_tags (receipt, hash) VALUES (?, ?)",
                [(emergency.receipt, tag_hash) for tag_hash in tag_hashes],
            )
            connection.executemany(  # a device removed since it was sealed for is left out
                "INSERT INTO emergency_deliveries (receipt, device_id, blob) SELECT ?, id, ? FROM devices WHERE id = ?",
                [(emergency.receipt, blob, device_id) for device_id, blob in blobs],
            )
            return Addition.ADDED, send_to_queues(connection, deliveries, self._bounds)

        return await self._database.write(add, keep)

    async def find_emergency(self, receipt: str, now: float) -> Emergency | None:
        return self._database.read(lambda connection: _find(connection, receipt, now))

    async def list_active_emergencies(
        self, token_id: str, now: float, tag_hash: bytes | None = None
    ) -> list[Emergency]:
        rows = self._database.rows(
            f"{EMERGENCIES.select} WHERE token_id = ? AND {_ACTIVE} AND (? IS NULL OR EXISTS "
            "(SELECT 1 FROM emergency_tags AS tag WHERE tag.hash = ? AND tag.receipt = emergencies.receipt)) "
            "ORDER BY created_at, receipt",
            (token_id, now, tag_hash, tag_hash),
        )
        return [EMERGENCIES.of(row) for row in rows]

    async def end_emergency(
        self, receipt: str, end: EmergencyEnd, closings: Sequence[Delivery], now: float
    ) -> EmergencyEndResult | None:
        def finish(connection: sqlite3.Connection) -> EmergencyEndResult | None:
            found = _find(connection, receipt, now)
            if found is None:
                return None
            if end.device_id is not None and not is_device(connection, end.device_id):
                return EmergencyEndResult(Verdict.DEVICE_REMOVED, found)
            verdict = judge_end(found, end, now)
            if verdict is not Verdict.ACCEPTED:
                return EmergencyEndResult(verdict, found)
            calls_back = end.status == "acknowledged" and found.callback is not None
            row = connection.execute(
                "UPDATE emergencies SET status = ?, ended_at = ?, device_id = ?, device_label = ?, "
                f"next_round_at = NULL, next_call_at = ? WHERE receipt = ? RETURNING {EMERGENCIES.columns}",
                (end.status, int(now), end.device_id, end.device_label, int(now) if calls_back else None, receipt),
            ).fetchone()
            connection.execute("DELETE FROM emergency_deliveries WHERE receipt = ?", (receipt,))
            append_to_queues(connection, closings, self._bounds)
            return EmergencyEndResult(Verdict.ACCEPTED, EMERGENCIES.of(row))

        return await self._database.write(finish)

    async def list_due_emergencies(self, now: float, limit: int) -> list[Emergency]:
        rows = self._database.rows(
            f"{EMERGENCIES.select} WHERE next_round_at <= ? ORDER BY next_round_at, receipt LIMIT ?",
            (now, limit),
        )
        return [EMERGENCIES.of(row) for row in rows]

    async def list_emergency_blobs(self, receipt: str) -> dict[str, bytes]:
        return dict(
            self._database.rows("SELECT device_id, blob FROM emergency_deliveries WHERE receipt = ?", (receipt,))
        )

    async def sound_emergency(
        self, emergency: Emergency, next_round_at: int, deliveries: Sequence[Delivery], now: float
    ) -> list[str] | None:
        def sound(connection: sqlite3.Connection) -> list[str] | None:
            claimed = connection.execute(
                "UPDATE emergencies SET next_round_at = ?, last_delivered_at = ? "
                "WHERE receipt = ? AND status = 'active' AND next_round_at = ?",
                (next_round_at, int(now), emergency.receipt, emergency.next_round_at),
            )
            return append_to_queues(connection, deliveries, self._bounds) if claimed.rowcount == 1 else None

        return await self._database.write(sound)

    async def claim_callbacks(self, now: float, limit: int) -> list[Emergency]:
        def claim(connection: sqlite3.Connection) -> list[Emergency]:
            due = connection.execute(
                f"{EMERGENCIES.select} WHERE next_call_at <= ? ORDER BY next_call_at, receipt LIMIT ?",
                (now, limit),
            ).fetchall()
            claimed = []
            for each in (EMERGENCIES.of(row) for row in due):
                row = connection.execute(
                    "UPDATE emergencies SET calls = ?, next_call_at = ? "
                    f"WHERE receipt = ? RETURNING {EMERGENCIES.columns}",
                    (each.calls + 1, next_call(each.calls + 1, now), each.receipt),
                ).fetchone()
                claimed.append(EMERGENCIES.of(row))
            return claimed

        if not self._database.row("SELECT 1 FROM emergencies WHERE next_call_at <= ? LIMIT 1", (now,)):
            return []  # nearly always; a write would be a commit each second
        return await self._database.write(claim)

    async def note_called_back(self, receipt: str, now: float) -> None:
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE emergencies SET called_back_at = ?, next_call_at = NULL WHERE receipt = ?", (int(now), receipt)
            )
        )


def _find(connection: sqlite3.Connection, receipt: str, now: float) -> Emergency | None:
    row = connection.execute(f"{EMERGENCIES.select} WHERE receipt = ?", (receipt,)).fetchone()
    found = EMERGENCIES.of(row) if row else None
    return found if found and is_kept(found, now) else None
