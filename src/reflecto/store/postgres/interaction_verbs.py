"""The store's verbs on questions."""

from collections.abc import Sequence
from typing import Final

from reflecto.contract.limits import RETENTION_SECONDS
from reflecto.contract.question_states import Reason
from reflecto.core.model import Delivery, Interaction, Tap
from reflecto.core.rules.interactions import (
    CreationFacts,
    answered,
    cancelled,
    is_retained,
    judge_answer,
    judge_cancel,
    judge_creation,
    judge_expiry,
    judge_wrong_number,
)
from reflecto.core.rules.outcomes import CreateResult, Creation, EndResult, Verdict
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.reads import Gathered
from reflecto.store.tables import INTERACTIONS

_COLUMNS: Final = ", ".join(f"interactions.{name}" for name in INTERACTIONS.names)
_IS_PENDING: Final = (
    "status = 'pending' AND expires_at > $2::float8 AND (tether IS NULL OR awaited_until + tether > $2::float8)"
)
_FIND: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place) "
    "JOIN interactions ON interactions.id = wanted.id"
)
_FIND_REPEAT: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::text[], $2::bytea[], $3::float8[]) WITH ORDINALITY "
    "AS wanted (token_id, mark, now, place) JOIN interactions ON interactions.token_id = wanted.token_id "
    "AND interactions.repeat_mark = wanted.mark AND interactions.expires_at > wanted.now"
)


class InteractionVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def find_interaction(self, interaction_id: str, now: float) -> Interaction | None:
        rows = await self._database.reads.gathered(_FIND, interaction_id)
        found = INTERACTIONS.of(rows[0]) if rows else None
        return found if found and is_retained(found, now) else None

    async def find_repeat(self, token_id: str, repeat_mark: bytes, now: float) -> Interaction | None:
        rows = await self._database.reads.gathered(_FIND_REPEAT, token_id, repeat_mark, now)
        return INTERACTIONS.of(rows[0]) if rows else None

    async def create_interaction_once(
        self,
        new: Interaction,
        deliveries: Sequence[Delivery],
        seen_phones: frozenset[str] | None,
        now: float,
        notes: Sequence[Delivery] = (),
    ) -> CreateResult:
        def create(facts: Facts) -> CreateResult:
            found = CreationFacts(
                is_token_live=new.token_id in facts.tokens,
                muted_until=facts.tokens.get(new.token_id),
                repeated=facts.find_repeat(new.token_id, new.repeat_mark, now),
                pending=facts.count_pending(new.owner_id, now, test=new.test),
                phones=facts.phones_of(new.owner_id),
            )
            creation = judge_creation(found, seen_phones, now)
            if creation is not Creation.CREATED:
                return CreateResult(creation, found.repeated if creation is Creation.REPEATED else None)
            reached = facts.append(deliveries)
            if deliveries and not reached:
                return CreateResult(Creation.QUEUES_FULL)
            facts.append(notes)
            facts.create(new)
            return CreateResult(Creation.CREATED, new)

        needs = Needs(
            owners=(new.owner_id,),
            deliveries=[*deliveries, *notes],
            tokens=(new.token_id,),
            repeats=((new.token_id, new.repeat_mark, now),),
            pending_from=now,
        )
        return await self._database.batches.run(needs, create)

    async def record_answer_if_pending(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        def record(facts: Facts) -> EndResult | None:
            found = _retained(facts, interaction_id, now)
            if found is None:
                return None
            if tap.device_id is not None and tap.device_id not in facts.queues:
                return EndResult(Verdict.DEVICE_REMOVED, found)
            verdict = judge_answer(found, tap, now)
            if verdict is not Verdict.ACCEPTED:
                return EndResult(verdict, found)
            ended = answered(found, tap, now)
            facts.change(ended)
            facts.drop_prompts(interaction_id)
            facts.append(withdrawals)
            return EndResult(Verdict.ACCEPTED, ended)

        devices = () if tap.device_id is None else (tap.device_id,)
        needs = Needs(interactions=(interaction_id,), devices=devices, deliveries=withdrawals, ended=(interaction_id,))
        return await self._database.batches.run(needs, record)

    async def count_wrong_number(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        def count(facts: Facts) -> EndResult | None:
            found = _retained(facts, interaction_id, now)
            if found is None:
                return None
            if tap.device_id is not None and tap.device_id not in facts.queues:
                return EndResult(Verdict.DEVICE_REMOVED, found)
            verdict, counted = judge_wrong_number(found, tap, now)
            if verdict is Verdict.ACCEPTED and counted.status == "pending":
                facts.note(counted)
            elif verdict is Verdict.ACCEPTED:
                facts.change(counted)
                facts.drop_prompts(interaction_id)
                facts.append(withdrawals)
            return EndResult(verdict, counted)

        devices = () if tap.device_id is None else (tap.device_id,)
        needs = Needs(interactions=(interaction_id,), devices=devices, deliveries=withdrawals, ended=(interaction_id,))
        return await self._database.batches.run(needs, count)

    async def cancel_if_pending(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float, reason: Reason = "withdrawn"
    ) -> EndResult | None:
        def cancel(facts: Facts) -> EndResult | None:
            found = _retained(facts, interaction_id, now)
            if found is None:
                return None
            verdict = judge_cancel(found, now)
            if verdict is not Verdict.ACCEPTED:
                return EndResult(verdict, found)
            ended = cancelled(found, reason, now)
            facts.change(ended)
            facts.drop_prompts(interaction_id)
            facts.append(withdrawals)
            return EndResult(Verdict.ACCEPTED, ended)

        needs = Needs(interactions=(interaction_id,), deliveries=withdrawals, ended=(interaction_id,))
        return await self._database.batches.run(needs, cancel)

    async def list_pending(self, token_id: str, now: float) -> list[Interaction]:
        rows = await self._database.reads.rows(
            f"{INTERACTIONS.select} WHERE token_id = $1 AND {_IS_PENDING} ORDER BY created_at, id", token_id, now
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def list_expired(self, now: float, limit: int) -> list[Interaction]:
        rows = await self._database.reads.rows(
            f"{INTERACTIONS.select} WHERE status = 'pending' "
            "AND (tether IS NULL OR awaited_until + tether >= expires_at) "
            "AND expires_at <= $1::bigint AND expires_at > $1::bigint - $2::bigint "
            "ORDER BY expires_at, id LIMIT $3::bigint",
            int(now),
            RETENTION_SECONDS,
            limit,
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def close_if_expired(
        self, interaction_id: str, closings: Sequence[Delivery], now: float
    ) -> Interaction | None:
        def close(facts: Facts) -> Interaction | None:
            found = _retained(facts, interaction_id, now)
            ended = judge_expiry(found, now) if found else None
            if ended is None:
                return None
            facts.change(ended)
            facts.append(closings)
            for each in closings:
                facts.drop_older_missed(each.device_id, now)
            return ended

        missed_by = [(each.device_id, now) for each in closings]
        needs = Needs(interactions=(interaction_id,), deliveries=closings, missed_by=missed_by)
        return await self._database.batches.run(needs, close)


def _retained(facts: Facts, interaction_id: str, now: float) -> Interaction | None:
    found = facts.interactions.get(interaction_id)
    return found if found and is_retained(found, now) else None
