"""Loads what the verbs of a transaction judge. The owners are locked already.

Each statement is a round trip, which takes longer than most of them take by themselves: so what every batch looks at is
one statement.
"""

from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Interaction
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.queue_facts import Queue
from reflecto.store.tables import INTERACTIONS

# Devices with their queues, live tokens of those named, and as much of pending questions as tells whether they still
# are: the text is not loaded. The first column says which.
_STANDING: Final = (
    "SELECT 'device', id, owner_id, class = 'phone', last_seq, queue_entries, queue_bytes, relayed_entries, "
    "relayed_bytes, NULL::float8 FROM devices WHERE owner_id = ANY($1::text[]) "
    "UNION ALL SELECT 'token', id, owner_id, NULL, muted_until, NULL, NULL, NULL, NULL, NULL "
    "FROM tokens WHERE id = ANY($2::text[]) AND revoked_at IS NULL "
    "UNION ALL SELECT 'pending', id, owner_id, test, expires_at, tether, NULL, NULL, NULL, awaited_until "
    "FROM interactions WHERE owner_id = ANY($3::text[]) AND status = 'pending' AND expires_at > $4::bigint"
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
_ASKED: Final = (
    "SELECT device_id, seq, question_id, octet_length(blob), push_until FROM queue WHERE question_id = ANY($1::text[]) "
    "UNION SELECT queue.device_id, seq, question_id, octet_length(blob), push_until "
    "FROM unnest($2::text[], $3::bigint[]) AS wanted (device_id, since) JOIN queue "
    "ON queue.device_id = wanted.device_id AND queue.question_id IS NOT NULL AND queue.push_until <= wanted.since"
)
# Where none is wanted. PostgreSQL knows that an empty array finds nothing, so any index will do to it: it then goes
# through all of one.
_NONE: Final = [""]
_COLUMNS: Final = ", ".join(f"interactions.{name}" for name in INTERACTIONS.names)
_QUESTIONS: Final = (
    f"SELECT {_COLUMNS} FROM interactions WHERE id = ANY($1::text[]) "
    f"UNION ALL SELECT {_COLUMNS} FROM unnest($2::text[], $3::bytea[], $4::bigint[]) AS wanted (token_id, mark, now) "
    "JOIN interactions ON interactions.token_id = wanted.token_id AND interactions.repeat_mark = wanted.mark "
    "AND interactions.expires_at > wanted.now"
)


async def load(connection: Connection, facts: Facts, needs: Sequence[Needs]) -> None:
    """Read what the verbs need into `facts`."""
    await _load_standing(connection, facts, needs)
    await _make_room(connection, facts, needs)
    await _load_questions(connection, facts, needs)
    await facts.replies.load(connection, [each.keep for each in needs if each.keep is not None])


async def _load_standing(connection: Connection, facts: Facts, needs: Sequence[Needs]) -> None:
    owner_ids = sorted(facts.owners)
    token_ids = {each for need in needs for each in need.tokens}
    times = [each.pending_from for each in needs if each.pending_from is not None]
    if not owner_ids and not token_ids:
        return
    pending_of = owner_ids if times else []
    wanted = (owner_ids or _NONE, list(token_ids) or _NONE, pending_of or _NONE, int(min(times, default=0)))
    for kind, found, owner_id, flag, *numbers, awaited_until in await connection.fetch(_STANDING, *wanted):
        if kind == "device":
            facts.keep_queue(Queue(found, owner_id, flag, *numbers))
        elif kind == "token":
            facts.tokens[found] = numbers[0]
        else:
            facts.pending.setdefault(owner_id, {})[found] = Interaction(
                *(found, owner_id, "", flag, b"", b"", b"", 0, 0, numbers[0]),
                tether=numbers[1],
                awaited_until=awaited_until,
            )


async def _make_room(connection: Connection, facts: Facts, needs: Sequence[Needs]) -> None:
    """Read what may have to go, and delete what is acknowledged."""
    if full := facts.maybe_full([each for need in needs for each in need.deliveries]):
        facts.relayed = {each: [] for each in full}
        for device_id, seq, size in await connection.fetch(_RELAYED, full):
            facts.relayed[device_id].append((seq, size))
    ended = {each for need in needs for each in need.ended}
    missed_by = {device_id: int(now) for need in needs for device_id, now in need.missed_by}
    if ended or missed_by:
        wanted = (list(ended) or _NONE, list(missed_by), list(missed_by.values()))
        for device_id, seq, *asked in await connection.fetch(_ASKED, *wanted):
            facts.keep_asked(device_id, seq, tuple(asked))
    upto: dict[str, int] = {}
    for device_id, seq in (each for need in needs for each in need.acked):
        if seq <= facts.given_out.get(device_id, -1):  # else it deletes nothing, here as in `acknowledge`
            upto[device_id] = max(seq, upto.get(device_id, 0))
    if upto:
        for device_id, seq, size, is_relayed in await connection.fetch(_ACK, list(upto), list(upto.values())):
            facts.acked.setdefault(device_id, []).append((seq, size, is_relayed))


async def _load_questions(connection: Connection, facts: Facts, needs: Sequence[Needs]) -> None:
    ids = {each for need in needs for each in need.interactions}
    repeats = {(token_id, mark, int(now)) for need in needs for token_id, mark, now in need.repeats}
    if ids or repeats:
        marks = map(list, zip(*repeats, strict=True)) if repeats else ([], [], [])
        for row in await connection.fetch(_QUESTIONS, list(ids) or _NONE, *marks):
            facts.keep_question(INTERACTIONS.of(tuple(row)))
