"""The store's verbs on questions."""

import sqlite3
from collections.abc import Sequence

from reflecto.contract.limits import RETENTION_SECONDS
from reflecto.contract.question_states import Reason
from reflecto.core.model import Delivery, Interaction, Tap
from reflecto.core.rules.interactions import (
    CreationFacts,
    answered,
    cancelled,
    judge_answer,
    judge_cancel,
    judge_creation,
    judge_expiry,
    judge_wrong_number,
)
from reflecto.core.rules.outcomes import CreateResult, Creation, EndResult, Verdict
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues, delete_older_missed, delete_prompts
from reflecto.store.sqlite.statements import (
    IS_PENDING,
    count_pending,
    find_interaction,
    find_live_token,
    find_repeat,
    is_device,
    phone_ids,
)
from reflecto.store.tables import INTERACTIONS, TAPS


class InteractionVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def find_interaction(self, interaction_id: str, now: float) -> Interaction | None:
        return self._database.read(lambda connection: find_interaction(connection, interaction_id, now))

    async def find_repeat(self, token_id: str, repeat_mark: bytes, now: float) -> Interaction | None:
        return self._database.read(lambda connection: find_repeat(connection, token_id, repeat_mark, now))

    async def create_interaction_once(
        self,
        new: Interaction,
        deliveries: Sequence[Delivery],
        seen_phones: frozenset[str] | None,
        now: float,
        notes: Sequence[Delivery] = (),
    ) -> CreateResult:
        def create(connection: sqlite3.Connection) -> CreateResult:
            token = find_live_token(connection, new.token_id)
            facts = CreationFacts(
                is_token_live=token is not None,
                muted_until=token.muted_until if token else None,
                repeated=find_repeat(connection, new.token_id, new.repeat_mark, now),
                pending=count_pending(connection, new.owner_id, now, test=new.test),
                phones=phone_ids(connection, new.owner_id),
            )
            creation = judge_creation(facts, seen_phones, now)
            if creation is not Creation.CREATED:
                return CreateResult(creation, facts.repeated if creation is Creation.REPEATED else None)
            reached = append_to_queues(connection, deliveries, self._bounds)
            if deliveries and not reached:
                return CreateResult(Creation.QUEUES_FULL)
            append_to_queues(connection, notes, self._bounds)
            connection.execute(INTERACTIONS.insert, INTERACTIONS.row(new))
            return CreateResult(Creation.CREATED, new)

        return await self._database.write(create)

    async def record_answer_if_pending(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        def record(connection: sqlite3.Connection) -> EndResult | None:
            found = find_interaction(connection, interaction_id, now)
            if found is None:
                return None
            if tap.device_id is not None and not is_device(connection, tap.device_id):
                return EndResult(Verdict.DEVICE_REMOVED, found)
            verdict = judge_answer(found, tap, now)
            if verdict is not Verdict.ACCEPTED:
                return EndResult(verdict, found)
            connection.execute(
                f"UPDATE interactions SET status = 'answered', ended_at = ?, {TAPS.assignments} WHERE id = ?",
                (int(now), *TAPS.row(tap), interaction_id),
            )
            delete_prompts(connection, found)
            append_to_queues(connection, withdrawals, self._bounds)
            return EndResult(Verdict.ACCEPTED, answered(found, tap, now))

        return await self._database.write(record, frees=True)

    async def count_wrong_number(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        def count(connection: sqlite3.Connection) -> EndResult | None:
            found = find_interaction(connection, interaction_id, now)
            if found is None:
                return None
            if tap.device_id is not None and not is_device(connection, tap.device_id):
                return EndResult(Verdict.DEVICE_REMOVED, found)
            verdict, counted = judge_wrong_number(found, tap, now)
            if verdict is Verdict.ACCEPTED:
                connection.execute(
                    "UPDATE interactions SET status = ?, ended_at = ?, reason = ?, wrong_signature = ? WHERE id = ?",
                    (counted.status, counted.ended_at, counted.reason, counted.wrong_signature, interaction_id),
                )
                if counted.status != "pending":
                    delete_prompts(connection, found)
                    append_to_queues(connection, withdrawals, self._bounds)
            return EndResult(verdict, counted)

        return await self._database.write(count, frees=True)

    async def cancel_if_pending(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float, reason: Reason = "withdrawn"
    ) -> EndResult | None:
        def cancel(connection: sqlite3.Connection) -> EndResult | None:
            found = find_interaction(connection, interaction_id, now)
            if found is None:
                return None
            verdict = judge_cancel(found, now)
            if verdict is not Verdict.ACCEPTED:
                return EndResult(verdict, found)
            connection.execute(
                "UPDATE interactions SET status = 'cancelled', ended_at = ?, reason = ? WHERE id = ?",
                (int(now), reason, interaction_id),
            )
            delete_prompts(connection, found)
            append_to_queues(connection, withdrawals, self._bounds)
            return EndResult(Verdict.ACCEPTED, cancelled(found, reason, now))

        return await self._database.write(cancel, frees=True)

    async def list_pending(self, token_id: str, now: float) -> list[Interaction]:
        rows = self._database.rows(
            f"{INTERACTIONS.select} WHERE token_id = :token_id AND {IS_PENDING} ORDER BY created_at, id",
            {"token_id": token_id, "now": now},
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def list_expired(self, now: float, limit: int) -> list[Interaction]:
        rows = self._database.rows(
            f"{INTERACTIONS.select} WHERE status = 'pending' "
            "AND (tether IS NULL OR awaited_until + tether >= expires_at) "
            "AND expires_at <= ? AND expires_at > ? ORDER BY expires_at, id LIMIT ?",
            (now, now - RETENTION_SECONDS, limit),
        )
        return [INTERACTIONS.of(row) for row in rows]

    async def close_if_expired(
        self, interaction_id: str, closings: Sequence[Delivery], now: float
    ) -> Interaction | None:
        def close(connection: sqlite3.Connection) -> Interaction | None:
            found = find_interaction(connection, interaction_id, now)
            ended = judge_expiry(found, now) if found else None
            if ended is None:
                return None
            connection.execute("UPDATE interactions SET status = ? WHERE id = ?", (ended.status, interaction_id))
            append_to_queues(connection, closings, self._bounds)
            for each in closings:
                delete_older_missed(connection, each.device_id, now)
            return ended

        return await self._database.write(close, frees=True)
