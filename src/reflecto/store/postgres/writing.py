"""Writes what the verbs of a transaction have changed, in few statements: each is a round trip."""

from typing import Any, Final

from reflecto.core.model import Interaction
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.table import unnested
from reflecto.store.tables import TAPS

_CREATED: Final = (  # what a question begins with; the rest is empty until it is changed
    *("id", "owner_id", "token_id", "test", "repeat_mark", "content_mark", "sealed"),
    *("choice_count", "created_at", "expires_at", "status", "tether", "awaited_until"),
    *("answer_version", "asks_number", "comment_key"),
)
_CREATED_TYPES: Final = (
    *("text", "text", "text", "boolean", "bytea", "bytea", "bytea"),
    *("bigint", "bigint", "bigint", "text", "bigint", "float8"),
    *("bigint", "boolean", "bytea"),
)
_CHANGING: Final = ("status", "ended_at", "reason", "awaited_until", "wrong_signature", *TAPS.names)
_CHANGING_TYPES: Final = (
    *("text", "bigint", "text", "float8", "bytea"),
    *("bigint", "bigint", "text", "text", "bytea", "bytea", "text", "bytea", "text"),
)

_CREATE: Final = f"INSERT INTO interactions ({', '.join(_CREATED)}) SELECT * FROM {unnested(_CREATED_TYPES)}"
_CHANGE: Final = (
    f"UPDATE interactions SET {', '.join(f'{name} = now.{name}' for name in _CHANGING)} "
    f"FROM {unnested(('text', *_CHANGING_TYPES))} AS now (id, {', '.join(_CHANGING)}) "
    "WHERE interactions.id = now.id"
)
_DROP: Final = (
    "DELETE FROM queue USING unnest($1::text[], $2::bigint[]) AS gone (device_id, seq) "
    "WHERE queue.device_id = gone.device_id AND queue.seq = gone.seq"
)
_COUNT: Final = (
    "UPDATE devices SET last_seq = now.last_seq, queue_entries = now.entries, queue_bytes = now.bytes, "
    "relayed_entries = now.relayed_entries, relayed_bytes = now.relayed_bytes "
    "FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) "
    "AS now (id, last_seq, entries, bytes, relayed_entries, relayed_bytes) WHERE devices.id = now.id"
)
# Nothing is appended that is not counted.
_APPEND: Final = (
    "WITH appended AS (INSERT INTO queue (device_id, seq, sender, blob, expires_at, urgency, topic, "
    "question_id, push_until) SELECT * FROM unnest($7::text[], $8::bigint[], $9::text[], $10::bytea[], $11::bigint[], "
    "$12::text[], $13::text[], $14::text[], $15::bigint[])) "
    f"{_COUNT}"
)


async def write(connection: Connection, facts: Facts) -> None:
    """Write every change. Rows go in order, as everybody takes them."""
    if facts.created:
        created = [_created_row(each) for each in facts.created]
        await connection.execute(_CREATE, *map(list, zip(*created, strict=True)))
    if altered := sorted(facts.altered):
        rows = [_changed_row(facts.interactions[each]) for each in altered]
        await connection.execute(_CHANGE, *map(list, zip(*rows, strict=True)))
    if facts.counted:
        counts = [
            (each.id, each.last_seq, each.entries, each.bytes, each.relayed_entries, each.relayed_bytes)
            for each in (facts.queues[each] for each in sorted(facts.counted))
        ]
        columns = [list(each) for rows in (counts, facts.appended) for each in zip(*rows, strict=True)]
        await connection.execute(_APPEND if facts.appended else _COUNT, *columns)
    if facts.dropped:  # some of it may only just have been appended
        await connection.execute(_DROP, *map(list, zip(*facts.dropped, strict=True)))
    await facts.replies.write(connection)


def _created_row(interaction: Interaction) -> tuple[Any, ...]:
    return tuple(getattr(interaction, name) for name in _CREATED)


def _changed_row(interaction: Interaction) -> list[Any]:
    tap = TAPS.absent if interaction.tap is None else TAPS.row(interaction.tap)
    return [
        interaction.id,
        interaction.status,
        interaction.ended_at,
        interaction.reason,
        interaction.awaited_until,
        interaction.wrong_signature,
        *tap,
    ]
