"""The store's verbs on enrolment and devices."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Device, DeviceChanges, Owner, SetupCode, Token
from reflecto.core.ports.store import Keep
from reflecto.core.rules.enrolment import RedemptionFacts, judge_redemption
from reflecto.core.rules.outcomes import Redemption
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues, delete_step
from reflecto.store.sqlite.statements import add_device, count_devices, is_device, owner_exists
from reflecto.store.tables import DEVICE_CHANGES, DEVICES, SETUP_CODES, TOKENS

OWNER_ROWS: Final = 200  # of these tables deleted in one transaction when an owner leaves
_MANY: Final = (("reminders", "id"), ("interactions", "id"), ("kept_replies", "mark"))  # and their keys
_FIND_CODE: Final = f"{SETUP_CODES.select} WHERE hash = ? AND expires_at > ?"

_UPDATE: Final = (
    f"UPDATE devices SET {', '.join(f'{name} = coalesce(?, {name})' for name in DEVICE_CHANGES.names)} "
    f"WHERE id = ? RETURNING {DEVICES.columns}"
)


class DeviceVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def add_setup_code(self, code: SetupCode, keep: Keep[bool] | None = None) -> bool:
        def add(connection: sqlite3.Connection) -> bool:
            if code.phone_id is not None and not is_device(connection, code.phone_id):
                return False
            connection.execute(SETUP_CODES.insert, SETUP_CODES.row(code))
            return True

        return await self._database.write(add, keep)

    async def find_setup_code(self, code_hash: bytes, now: float) -> SetupCode | None:
        row = self._database.row(_FIND_CODE, (code_hash, now))
        return SETUP_CODES.of(row) if row else None

    async def redeem_setup_code(
        self,
        code_hash: bytes,
        device: Device,
        default_token: Token | None,
        deliveries: Sequence[Delivery],
        now: float,
        keep: Keep[Redemption] | None = None,
    ) -> Redemption:
        def redeem(connection: sqlite3.Connection) -> Redemption:
            row = connection.execute(_FIND_CODE, (code_hash, now)).fetchone()
            facts = RedemptionFacts(
                code=SETUP_CODES.of(row) if row else None,
                has_owners=owner_exists(connection),
                is_owner_there=owner_exists(connection, device.owner_id),
                devices=count_devices(connection, device.owner_id),
            )
            redemption = judge_redemption(facts, founds=default_token is not None)
            if redemption is not Redemption.REDEEMED:
                return redemption
            if default_token is not None:
                connection.execute(
                    "INSERT INTO owners (id, created_at) VALUES (?, ?)", (device.owner_id, device.created_at)
                )
            connection.execute("DELETE FROM setup_codes WHERE hash = ?", (code_hash,))
            add_device(connection, device)
            if default_token is not None:
                connection.execute(
                    TOKENS.insert,
                    TOKENS.row(default_token),
                )
            append_to_queues(connection, deliveries, self._bounds)
            return Redemption.REDEEMED

        return await self._database.write(redeem, keep)

    async def list_owners(self) -> list[Owner]:
        labels: dict[str, list[str]] = {}
        for owner_id, label in self._database.rows("SELECT owner_id, label FROM devices ORDER BY created_at, id"):
            labels.setdefault(owner_id, []).append(label)
        rows = self._database.rows("SELECT id, created_at FROM owners ORDER BY created_at, id")
        return [Owner(owner_id, created_at, tuple(labels.get(owner_id, ()))) for owner_id, created_at in rows]

    async def find_device_by_token(self, token_hash: bytes) -> Device | None:
        row = self._database.row(f"{DEVICES.select} WHERE token_hash = ?", (token_hash,))
        return DEVICES.of(row) if row else None

    async def list_devices(self, owner_id: str) -> list[Device]:
        rows = self._database.rows(f"{DEVICES.select} WHERE owner_id = ? ORDER BY created_at, id", (owner_id,))
        return [DEVICES.of(row) for row in rows]

    async def update_device(self, device_id: str, changes: DeviceChanges) -> Device | None:
        def update(connection: sqlite3.Connection) -> Device | None:
            row = connection.execute(_UPDATE, (*DEVICE_CHANGES.row(changes), device_id)).fetchone()
            return DEVICES.of(row) if row else None

        return await self._database.write(update)

    async def remove_device(self, owner_id: str, device_id: str) -> bool:
        def remove(connection: sqlite3.Connection) -> bool | None:
            if not is_device(connection, device_id, owner_id):
                return False
            _, were_all = delete_step(connection, "device_id = ?", device_id)
            if not were_all:
                return None
            connection.execute("DELETE FROM devices WHERE id = ?", (device_id,))
            connection.execute("DELETE FROM pairings WHERE device_id = ?", (device_id,))  # it has the keys too
            return True

        return await self._database.write_until_done(remove)

    async def delete_owner(self, owner_id: str) -> None:
        def delete(connection: sqlite3.Connection) -> bool | None:
            queues = "device_id IN (SELECT id FROM devices WHERE owner_id = ?)"
            _, were_all = delete_step(connection, queues, owner_id)
            if not were_all or any(_delete_some(connection, *each, owner_id) for each in _MANY):
                return None
            connection.execute("DELETE FROM owners WHERE id = ?", (owner_id,))
            return True

        await self._database.write_until_done(delete)


def _delete_some(connection: sqlite3.Connection, table: str, key: str, owner_id: str) -> bool:
    """Delete some of the owner's rows; tell whether there may be more."""
    deleted = connection.execute(
        f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE owner_id = ? LIMIT {OWNER_ROWS})",
        (owner_id,),
    )
    return deleted.rowcount == OWNER_ROWS
