"""The store's verbs on emergencies."""

from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Emergency, EmergencyEnd
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_emergency
from reflecto.core.rules.emergencies import is_kept, judge_end, next_call
from reflecto.core.rules.outcomes import Addition, EmergencyEndResult, Sending, Verdict
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.tables import EMERGENCIES

_FIND: Final = f"{EMERGENCIES.select} WHERE receipt = $1"
_ACTIVE: Final = "status = 'active' AND expires_at > $2::bigint"
_ADD_TAGS: Final = (
    "INSERT INTO emergency_tags (receipt, hash) SELECT $1, unnest($2::bytea[]) ON CONFLICT (hash, receipt) DO NOTHING"
)
_KEEP: Final = (  # a device removed since it was sealed for is left out
    "INSERT INTO emergency_deliveries (receipt, device_id, blob) SELECT $1, devices.id, given.blob "
    "FROM unnest($2::text[], $3::bytea[]) AS given (device_id, blob) JOIN devices ON devices.id = given.device_id"
)
_END: Final = (
    "UPDATE emergencies SET status = $2, ended_at = $3, device_id = $4, device_label = $5, next_round_at = NULL, "
    f"next_call_at = $6 WHERE receipt = $1 RETURNING {EMERGENCIES.columns}"
)
_DUE_CALLS: Final = (
    f"{EMERGENCIES.select} WHERE next_call_at <= $1::bigint ORDER BY next_call_at, receipt LIMIT $2 "
    "FOR UPDATE SKIP LOCKED"
)


class EmergencyVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def add_emergency(
        self,
        emergency: Emergency,
        tag_hashes: Sequence[bytes],
        blobs: Sequence[tuple[str, bytes]],
        deliveries: Sequence[Delivery],
        keep: Keep[tuple[Addition, Sending]] | None = None,
    ) -> tuple[Addition, Sending]:
        async def add(transaction: Transaction) -> tuple[Addition, Sending]:
            connection = transaction.connection
            needs = Needs(owners=(emergency.owner_id,), tokens=(emergency.token_id,), deliveries=deliveries, keep=keep)
            facts = await transaction.lock(needs)
            active = await connection.fetchval(
                f"SELECT count(*) FROM emergencies WHERE owner_id = $1 AND {_ACTIVE}",
                emergency.owner_id,
                emergency.created_at,
            )
            addition = judge_emergency(active, is_token_live=emergency.token_id in facts.tokens)
            if addition is not Addition.ADDED:
                return addition, Sending()
            await connection.execute(EMERGENCIES.numbered_insert, *EMERGENCIES.row(emergency))
            await connection.execute(_ADD_TAGS, emergency.receipt, tag_hashes)
            await connection.execute(
                _KEEP, emergency.receipt, [device_id for device_id, _ in blobs], [blob for _, blob in blobs]
            )
            return Addition.ADDED, facts.send(deliveries)

        return await self._database.transactions.run(add)

    async def find_emergency(self, receipt: str, now: float) -> Emergency | None:
        row = await self._database.reads.row(_FIND, receipt)
        found = EMERGENCIES.of(row) if row else None
        return found if found and is_kept(found, now) else None

    async def list_active_emergencies(
        self, token_id: str, now: float, tag_hash: bytes | None = None
    ) -> list[Emergency]:
        rows = await self._database.reads.rows(
            f"{EMERGENCIES.select} WHERE token_id = $1 AND {_ACTIVE} AND ($3::bytea IS NULL OR EXISTS "
            "(SELECT 1 FROM emergency_tags AS tag WHERE tag.hash = $3 AND tag.receipt = emergencies.receipt)) "
            "ORDER BY created_at, receipt",
            token_id,
            int(now),
            tag_hash,
        )
        return [EMERGENCIES.of(row) for row in rows]

    async def end_emergency(
        self, receipt: str, end: EmergencyEnd, closings: Sequence[Delivery], now: float
    ) -> EmergencyEndResult | None:
        async def finish(transaction: Transaction) -> EmergencyEndResult | None:
            connection = transaction.connection
            owner_id = await connection.fetchval("SELECT owner_id FROM emergencies WHERE receipt = $1", receipt)
            if owner_id is None:
                return None
            devices = () if end.device_id is None else (end.device_id,)
            facts = await transaction.lock(Needs(owners=(owner_id,), devices=devices, deliveries=closings))
            row = await connection.fetchrow(f"{_FIND} FOR UPDATE", receipt)
            found = EMERGENCIES.of(tuple(row)) if row else None
            if found is None or not is_kept(found, now):
                return None
            if end.device_id is not None and end.device_id not in facts.queues:
                return EmergencyEndResult(Verdict.DEVICE_REMOVED, found)
            verdict = judge_end(found, end, now)
            if verdict is not Verdict.ACCEPTED:
                return EmergencyEndResult(verdict, found)
            calls_back = end.status == "acknowledged" and found.callback is not None
            call_at = int(now) if calls_back else None
            (ended,) = await connection.fetch(
                _END, receipt, end.status, int(now), end.device_id, end.device_label, call_at
            )
            await connection.execute("DELETE FROM emergency_deliveries WHERE receipt = $1", receipt)
            facts.append(closings)
            return EmergencyEndResult(Verdict.ACCEPTED, EMERGENCIES.of(tuple(ended)))

        return await self._database.transactions.run(finish)

    async def list_due_emergencies(self, now: float, limit: int) -> list[Emergency]:
        rows = await self._database.reads.rows(
            f"{EMERGENCIES.select} WHERE next_round_at <= $1::bigint ORDER BY next_round_at, receipt LIMIT $2",
            int(now),
            limit,
        )
        return [EMERGENCIES.of(row) for row in rows]

    async def list_emergency_blobs(self, receipt: str) -> dict[str, bytes]:
        rows = await self._database.reads.rows(
            "SELECT device_id, blob FROM emergency_deliveries WHERE receipt = $1", receipt
        )
        return {row[0]: row[1] for row in rows}

    async def sound_emergency(
        self, emergency: Emergency, next_round_at: int, deliveries: Sequence[Delivery], now: float
    ) -> list[str] | None:
        async def sound(transaction: Transaction) -> list[str] | None:
            facts = await transaction.lock(Needs(owners=(emergency.owner_id,), deliveries=deliveries))
            claimed = await transaction.connection.fetchval(
                "UPDATE emergencies SET next_round_at = $2, last_delivered_at = $3 "
                "WHERE receipt = $1 AND status = 'active' AND next_round_at = $4 RETURNING true",
                emergency.receipt,
                next_round_at,
                int(now),
                emergency.next_round_at,
            )
            return facts.append(deliveries) if claimed else None

        return await self._database.transactions.run(sound)

    async def claim_callbacks(self, now: float, limit: int) -> list[Emergency]:
        async def claim(transaction: Transaction) -> list[Emergency]:
            claimed = []
            due = await transaction.connection.fetch(_DUE_CALLS, int(now), limit)
            for each in (EMERGENCIES.of(tuple(row)) for row in due):
                (row,) = await transaction.connection.fetch(
                    "UPDATE emergencies SET calls = $2, next_call_at = $3 "
                    f"WHERE receipt = $1 RETURNING {EMERGENCIES.columns}",
                    each.receipt,
                    each.calls + 1,
                    next_call(each.calls + 1, now),
                )
                claimed.append(EMERGENCIES.of(tuple(row)))
            return claimed

        due = "SELECT 1 FROM emergencies WHERE next_call_at <= $1::bigint LIMIT 1"
        if not await self._database.reads.row(due, int(now)):
            return []  # nearly always; a write would be a commit each second
        return await self._database.transactions.run(claim)

    async def note_called_back(self, receipt: str, now: float) -> None:
        async def note(transaction: Transaction) -> None:
            await transaction.connection.execute(
                "UPDATE emergencies SET called_back_at = $2, next_call_at = NULL WHERE receipt = $1", receipt, int(now)
            )

        await self._database.transactions.run(note)
