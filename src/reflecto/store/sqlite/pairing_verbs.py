"""The store's verbs on pairings."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Approval, Delivery, Device, Pairing, PairingStep
from reflecto.core.ports.store import Keep
from reflecto.core.rules.outcomes import Admittance, Opening, StepResult
from reflecto.core.rules.pairing import approved, judge_approval, judge_opening, take_step
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues
from reflecto.store.sqlite.statements import add_device, count_devices, is_device
from reflecto.store.tables import PAIRINGS

_WRITE: Final = PAIRINGS.insert.replace("INSERT", "REPLACE", 1)


class PairingVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def add_pairing(self, pairing: Pairing, now: float, keep: Keep[Opening] | None = None) -> Opening:
        def add(connection: sqlite3.Connection) -> Opening:
            taken = connection.execute("SELECT 1 FROM pairings WHERE id = ?", (pairing.id,)).fetchone()
            (open_ones,) = connection.execute(
                "SELECT count(*) FROM pairings WHERE owner_id = ? AND expires_at > ? "
                "AND status NOT IN ('approved', 'rejected')",
                (pairing.owner_id, now),
            ).fetchone()
            opening = judge_opening(
                is_phone_there=is_device(connection, pairing.phone_id, pairing.owner_id),
                is_id_taken=taken is not None,
                open_pairings=open_ones,
            )
            if opening is Opening.OPENED:
                connection.execute(_WRITE, PAIRINGS.row(pairing))
            return opening

        return await self._database.write(add, keep)

    async def find_pairing(self, pairing_id: str, now: float) -> Pairing | None:
        return self._database.read(lambda connection: _find(connection, pairing_id, now))

    async def step_pairing(
        self, pairing_id: str, step: PairingStep, now: float, keep: Keep[StepResult | None] | None = None
    ) -> StepResult | None:
        def take(connection: sqlite3.Connection) -> StepResult | None:
            found = _find(connection, pairing_id, now)
            if found is None:
                return None
            moved = take_step(found, step)
            if moved is None:
                return StepResult(accepted=False, pairing=found)
            connection.execute(_WRITE, PAIRINGS.row(moved))
            return StepResult(accepted=True, pairing=moved)

        return await self._database.write(take, keep)

    async def approve_pairing(
        self, pairing_id: str, approval: Approval, device: Device, deliveries: Sequence[Delivery], now: float
    ) -> Admittance | None:
        def approve(connection: sqlite3.Connection) -> Admittance | None:
            found = _find(connection, pairing_id, now)
            if found is None:
                return None
            admittance = judge_approval(found, approval, count_devices(connection, found.owner_id))
            if admittance is not Admittance.ADMITTED:
                return admittance
            connection.execute(_WRITE, PAIRINGS.row(approved(found, approval, now)))
            add_device(connection, device)
            append_to_queues(connection, deliveries, self._bounds)
            return Admittance.ADMITTED

        return await self._database.write(approve)


def _find(connection: sqlite3.Connection, pairing_id: str, now: float) -> Pairing | None:
    row = connection.execute(f"{PAIRINGS.select} WHERE id = ? AND expires_at > ?", (pairing_id, now)).fetchone()
    return PAIRINGS.of(row) if row else None
