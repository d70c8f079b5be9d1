"""Loads what the verbs of a transaction judge: one statement a table. The owners are locked already."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reflecto.core.model import Interaction
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.queue_facts import Queue
from reflecto.store.tables import INTERACTIONS

_QUEUES: Final = (
    "SELECT id, owner_id, class = 'phone', last_seq, queue_entries, queue_bytes, relayed_entries, relayed_bytes "
    "FROM devices WHERE owner_id = ANY($1::text[])"
)
_RELAYED: Final = (
    "SELECT device_id, seq, octet_length(blob) FROM queue "
    "WHERE device_id = ANY($1::text[]) AND sender <> 'server' ORDER BY device_id, seq"
)
_ACK: Final = (
    "DELETE FROM queue USING unnest($1::text[], $2::bigint[]) AS upto (device_id, seq) "
    "WHERE queue.device_id = upto.device_id AND queue.seq <= upto.seq "
    "RETURNING queue.device_id, queue.seq, octet_length(blob), sender <> 'server'"
)
_TOKENS: Final = "SELECT id FROM tokens WHERE id = ANY($1::text[]) AND revoked_at IS NULL"
_COLUMNS: Final = ", ".join(f"interactions.{name}" for name in INTERACTIONS.names)
_QUESTIONS: Final = (
    f"SELECT {_COLUMNS} FROM interactions WHERE id = ANY($1::text[]) "
    f"UNION ALL SELECT {_COLUMNS} FROM unnest($2::text[], $3::bytea[], $4::bigint[]) AS wanted (token_id, mark, now) "
    "JOIN interactions ON interactions.token_id = wanted.token_id AND interactions.repeat_mark = wanted.mark "
    "AND interactions.expires_at > wanted.now"
)
_PENDING: Final = (
    "SELECT id, owner_id, test, expires_at, tether, awaited_until FROM interactions "
    "WHERE owner_id = ANY($1::text[]) AND status = 'pending' AND expires_at > $2::bigint"
)

_NO_QUESTION: Final = Interaction("", "", "", False, b"", b"", b"", 0, 0, 0)


async def load(connection: Connection, facts: Facts, needs: Sequence[Needs]) -> None:
    """Read what the verbs need into `facts`."""
    owner_ids = sorted(facts.owners)
    if owner_ids:
        await _load_queues(connection, facts, owner_ids, needs)
    if token_ids := {each for need in needs for each in need.tokens}:
        facts.tokens = {row[0] for row in await connection.fetch(_TOKENS, list(token_ids))}
    await _load_questions(connection, facts, owner_ids, needs)
    await facts.replies.load(connection, [each.keep for each in needs if each.keep is not None])


async def _load_queues(connection: Connection, facts: Facts, owner_ids: Sequence[str], needs: Sequence[Needs]) -> None:
    """Read the standing of every queue of the owners, and delete what is acknowledged."""
    for row in await connection.fetch(_QUEUES, owner_ids):
        facts.keep_queue(Queue(*row))
    if full := facts.maybe_full([each for need in needs for each in need.deliveries]):
        facts.relayed = {each: [] for each in full}
        for device_id, seq, size in await connection.fetch(_RELAYED, full):
            facts.relayed[device_id].append((seq, size))
    upto: dict[str, int] = {}
    for device_id, seq in (each for need in needs for each in need.acked):
        if seq <= facts.given_out.get(device_id, -1):  # else it deletes nothing, here as in `acknowledge`
            upto[device_id] = max(seq, upto.get(device_id, 0))
    if upto:
        for device_id, seq, size, is_relayed in await connection.fetch(_ACK, list(upto), list(upto.values())):
            facts.acked.setdefault(device_id, []).append((seq, size, is_relayed))


async def _load_questions(
    connection: Connection, facts: Facts, owner_ids: Sequence[str], needs: Sequence[Needs]
) -> None:
    ids = {each for need in needs for each in need.interactions}
    repeats = {(token_id, mark, int(now)) for need in needs for token_id, mark, now in need.repeats}
    if ids or repeats:
        marks = map(list, zip(*repeats, strict=True)) if repeats else ([], [], [])
        for row in await connection.fetch(_QUESTIONS, list(ids), *marks):
            facts.keep_question(INTERACTIONS.of(tuple(row)))
    times = [each.pending_from for each in needs if each.pending_from is not None]
    for row in await connection.fetch(_PENDING, owner_ids, int(min(times))) if times else ():
        found, owner_id, test, expires_at, tether, awaited_until = row
        # As much of a pending question as tells whether it still is: its text is not loaded.
        facts.pending.setdefault(owner_id, {})[found] = replace(
            _NO_QUESTION,
            id=found,
            owner_id=owner_id,
            test=test,
            expires_at=expires_at,
            tether=tether,
            awaited_until=awaited_until,
        )
