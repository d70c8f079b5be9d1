"""Writes what the verbs of a transaction have changed: one statement a table."""

from typing import Any, Final

from reflecto.core.model import Interaction
from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.facts import Facts
from reflecto.store.table import numbered
from reflecto.store.tables import INTERACTIONS, TAPS

_INSERT_QUEUE: Final = (
    "INSERT INTO queue (device_id, seq, sender, blob, expires_at, urgency, topic) SELECT * FROM "
    "unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[], $5::bigint[], $6::text[], $7::text[])"
)
_DELETE_QUEUE: Final = (
    "DELETE FROM queue USING unnest($1::text[], $2::bigint[]) AS gone (device_id, seq) "
    "WHERE queue.device_id = gone.device_id AND queue.seq = gone.seq"
)
_UPDATE_QUEUES: Final = (
    "UPDATE devices SET last_seq = now.last_seq, queue_entries = now.entries, queue_bytes = now.bytes, "
    "relayed_entries = now.relayed_entries, relayed_bytes = now.relayed_bytes "
    "FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) "
    "AS now (id, last_seq, entries, bytes, relayed_entries, relayed_bytes) WHERE devices.id = now.id"
)
_END: Final = (
    "UPDATE interactions SET status = $2, ended_at = $3, reason = $4, awaited_until = $5, "
    f"({TAPS.columns}) = ROW({numbered(len(TAPS.names), 6)}) WHERE id = $1"
)


async def write(connection: Connection, facts: Facts) -> None:
    """Write every change, one statement a table."""
    if facts.created:
        await connection.executemany(INTERACTIONS.numbered_insert, [INTERACTIONS.row(each) for each in facts.created])
    if facts.altered:
        await connection.executemany(_END, [_end_row(each) for each in facts.altered.values()])
    if facts.appended:
        await connection.execute(_INSERT_QUEUE, *map(list, zip(*facts.appended, strict=True)))
    if facts.dropped:
        await connection.execute(_DELETE_QUEUE, *map(list, zip(*facts.dropped, strict=True)))
    if facts.counted:
        rows = [
            (each.id, each.last_seq, each.entries, each.bytes, each.relayed_entries, each.relayed_bytes)
            for each in (facts.queues[each] for each in facts.counted)
        ]
        await connection.execute(_UPDATE_QUEUES, *map(list, zip(*rows, strict=True)))


def _end_row(interaction: Interaction) -> list[Any]:
    return [
        interaction.id,
        interaction.status,
        interaction.ended_at,
        interaction.reason,
        interaction.awaited_until,
        *(TAPS.absent if interaction.tap is None else TAPS.row(interaction.tap)),
    ]
