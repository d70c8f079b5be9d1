"""The store's verbs on pairings."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reflecto.core.model import Approval, Delivery, Device, Pairing, PairingStep
from reflecto.core.ports.store import Keep
from reflecto.core.rules.outcomes import Admittance, Opening, StepResult
from reflecto.core.rules.pairing import approved, judge_approval, judge_opening, take_step
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.tables import PAIRINGS

_FIND: Final = f"{PAIRINGS.select} WHERE id = $1 AND expires_at > $2::bigint"
_REPLACE: Final = (
    f"UPDATE pairings SET {', '.join(f'{name} = ${place}' for place, name in enumerate(PAIRINGS.names, 1))} "
    "WHERE id = $1"
)


class PairingVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def add_pairing(self, pairing: Pairing, now: float, keep: Keep[Opening] | None = None) -> Opening:
        async def add(transaction: Transaction) -> Opening:
            facts = await transaction.lock(Needs(owners=(pairing.owner_id,), keep=keep))
            ((taken, open_ones),) = await transaction.connection.fetch(
                "SELECT EXISTS (SELECT 1 FROM pairings WHERE id = $1), (SELECT count(*) FROM pairings "
                "WHERE owner_id = $2 AND expires_at > $3::bigint AND status NOT IN ('approved', 'rejected'))",
                pairing.id,
                pairing.owner_id,
                int(now),
            )
            opening = judge_opening(
                is_phone_there=pairing.phone_id in {each.id for each in facts.devices_of(pairing.owner_id)},
                is_id_taken=taken,
                open_pairings=open_ones,
            )
            if opening is not Opening.OPENED:
                return opening
            added = await transaction.connection.fetchval(  # another owner's may have taken the id meanwhile
                f"{PAIRINGS.numbered_insert} ON CONFLICT (id) DO NOTHING RETURNING id", *PAIRINGS.row(pairing)
            )
            return Opening.OPENED if added else Opening.TAKEN

        return await self._database.transactions.run(add)

    async def find_pairing(self, pairing_id: str, now: float) -> Pairing | None:
        row = await self._database.reads.row(_FIND, pairing_id, int(now))
        return PAIRINGS.of(row) if row else None

    async def step_pairing(
        self, pairing_id: str, step: PairingStep, now: float, keep: Keep[StepResult | None] | None = None
    ) -> StepResult | None:
        async def take(transaction: Transaction) -> StepResult | None:
            found, _ = await _lock(transaction, pairing_id, Needs(keep=keep), now)
            if found is None:
                return None
            moved = take_step(found, step)
            if moved is None:
                return StepResult(accepted=False, pairing=found)
            await _replace(transaction, moved)
            return StepResult(accepted=True, pairing=moved)

        return await self._database.transactions.run(take)

    async def approve_pairing(
        self, pairing_id: str, approval: Approval, device: Device, deliveries: Sequence[Delivery], now: float
    ) -> Admittance | None:
        async def approve(transaction: Transaction) -> Admittance | None:
            found, facts = await _lock(transaction, pairing_id, Needs(deliveries=deliveries), now)
            if found is None:
                return None
            admittance = judge_approval(found, approval, len(facts.devices_of(found.owner_id)))
            if admittance is not Admittance.ADMITTED:
                return admittance
            await _replace(transaction, approved(found, approval, now))
            await transaction.add_device(device)
            facts.append(deliveries)
            return Admittance.ADMITTED

        return await self._database.transactions.run(approve)


async def _lock(transaction: Transaction, pairing_id: str, needs: Needs, now: float) -> tuple[Pairing | None, Facts]:
    """Lock the pairing's owner, then the pairing, which a sweep may be about to delete."""
    owner_id = await transaction.connection.fetchval("SELECT owner_id FROM pairings WHERE id = $1", pairing_id)
    facts = await transaction.lock(needs if owner_id is None else replace(needs, owners=(owner_id,)))
    row = await transaction.connection.fetchrow(f"{_FIND} FOR UPDATE", pairing_id, int(now))
    return PAIRINGS.of(tuple(row)) if row else None, facts


async def _replace(transaction: Transaction, pairing: Pairing) -> None:
    await transaction.connection.execute(_REPLACE, *PAIRINGS.row(pairing))
    transaction.changed.watched_ids.add(pairing.id)
