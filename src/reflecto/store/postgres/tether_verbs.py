"""The store's verbs on tethered questions: who waits, and what nobody waits for."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reflecto.core.model import Delivery, Interaction
from reflecto.core.rules.interactions import is_retained
from reflecto.core.rules.tethers import judge_abandonment, judge_hold
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.tables import INTERACTIONS

_SPARE: Final = (
    "UPDATE interactions SET awaited_until = $1::float8 WHERE id IN (SELECT id FROM interactions "
    "WHERE status = 'pending' AND tether IS NOT NULL AND expires_at > $1::float8 AND NOT EXISTS "
    "(SELECT 1 FROM processes WHERE id <> $2 AND live_until > clock_timestamp()) "
    "ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)"
)


class TetherVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def hold_tether(self, interaction_id: str, until: float, now: float) -> Interaction | None:
        def hold(facts: Facts) -> Interaction | None:
            found = facts.interactions.get(interaction_id)
            if found is None or not is_retained(found, now):
                return None
            held = judge_hold(found, until, now)
            if held is not found:
                facts.note(held)
            return held

        return await self._database.batches.run(Needs(interactions=(interaction_id,)), hold)

    async def release_tether(self, interaction_id: str, until: float, now: float) -> None:
        def release(facts: Facts) -> None:
            found = facts.interactions.get(interaction_id)
            if found is not None and found.status == "pending" and found.awaited_until == until:
                facts.change(replace(found, awaited_until=now))

        await self._database.batches.run(Needs(interactions=(interaction_id,)), release)

    async def close_if_abandoned(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float
    ) -> Interaction | None:
        def close(facts: Facts) -> Interaction | None:
            found = facts.interactions.get(interaction_id)
            if found is None or not is_retained(found, now):
                return None
            ended = judge_abandonment(found, now)
            if ended is not None:
                facts.change(ended)
                facts.drop_prompts(interaction_id)
                facts.append(withdrawals)
            return ended

        needs = Needs(interactions=(interaction_id,), deliveries=withdrawals, ended=(interaction_id,))
        return await self._database.batches.run(needs, close)

    async def list_abandoned(self, now: float) -> list[Interaction]:
        rows = await self._database.reads.rows(
            f"{INTERACTIONS.select} WHERE status = 'pending' AND tether IS NOT NULL "
            "AND awaited_until + tether <= $1::float8 AND awaited_until + tether < expires_at",
            now,
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def spare_tethered(self, now: float) -> None:
        async def spare(transaction: Transaction) -> None:
            # Only where no other process is live: its waits are not over. What a batch holds is being waited for.
            await transaction.connection.execute(_SPARE, now, self._database.process_id)

        await self._database.transactions.run(spare)
