"""Entries in and out of the queues, and the counts beside them, as functions of an open transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Interaction
from reflecto.core.rules.missed import surplus_questions
from reflecto.core.rules.outcomes import Sending
from reflecto.core.rules.queue_room import (
    QueueLimits,
    QueueStanding,
    can_make_room_for_relayed,
    has_room,
    has_room_for_relayed,
)
from reflecto.store.sqlite.statements import is_device

FROM_SERVER: Final = "server"
# What is deleted in one transaction: each page of it is overwritten, so as much goes through the log beside the store.
STEP_ENTRIES: Final = 256
STEP_BYTES: Final = 512 * 1024

_COUNTS: Final = (
    "queue_entries = queue_entries + ?, queue_bytes = queue_bytes + ?, "
    "relayed_entries = relayed_entries + ?, relayed_bytes = relayed_bytes + ?"
)
_COUNT: Final = f"UPDATE devices SET {_COUNTS} WHERE id = ?"
# Two statements, not one with RETURNING: that takes SQLite more than twice as long as both.
_STANDING: Final = (
    "SELECT last_seq, queue_entries, queue_bytes, relayed_entries, relayed_bytes, "
    "(SELECT sum(queue_bytes) FROM devices AS each WHERE each.owner_id = devices.owner_id) FROM devices WHERE id = ?"
)
_TAKE: Final = f"UPDATE devices SET last_seq = last_seq + 1, {_COUNTS} WHERE id = ?"
_INSERT: Final = (
    "INSERT INTO queue (device_id, seq, sender, blob, expires_at, urgency, topic, question_id, push_until) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def append_to_queues(connection: sqlite3.Connection, deliveries: Sequence[Delivery], bounds: QueueLimits) -> list[str]:
    """Number and append each blob where there is room; return the ids of the devices whose queues took it."""
    return [each.device_id for each in deliveries if _append(connection, each, bounds)]


def send_to_queues(connection: sqlite3.Connection, deliveries: Sequence[Delivery], bounds: QueueLimits) -> Sending:
    """Append the same, and tell the devices whose queues are full from those that are gone."""
    reached = append_to_queues(connection, deliveries, bounds)
    missed = dict.fromkeys(each.device_id for each in deliveries if each.device_id not in reached)
    return Sending(tuple(reached), tuple(each for each in missed if is_device(connection, each)))


def delete_prompts(connection: sqlite3.Connection, interaction: Interaction) -> None:
    """Delete what the queues hold of a question."""
    rows = connection.execute(
        "SELECT rowid, device_id, length(blob), sender FROM queue "
        "WHERE question_id = ? AND device_id IN (SELECT id FROM devices WHERE owner_id = ?)",
        (interaction.id, interaction.owner_id),
    )
    _delete(connection, rows.fetchall())


def delete_older_missed(connection: sqlite3.Connection, device_id: str, now: float) -> None:
    """Delete what the queue holds of missed questions beyond the newest."""
    rows = connection.execute(
        "SELECT rowid, device_id, length(blob), sender, seq, question_id FROM queue "
        "WHERE device_id = ? AND question_id IS NOT NULL AND push_until <= ?",
        (device_id, now),
    ).fetchall()
    going = surplus_questions((row[4], row[5]) for row in rows)
    _delete(connection, [row[:4] for row in rows if row[5] in going])


def delete_step(connection: sqlite3.Connection, where: str, *parameters: object) -> tuple[int, bool]:
    """Delete of the entries that `where` finds as many as one transaction should.

    Return how many, and whether those were all. No request waits long behind a step, and a full disk has room for it.
    """
    found = connection.execute(
        f"SELECT rowid, device_id, length(blob), sender FROM queue WHERE {where} LIMIT {STEP_ENTRIES}", parameters
    ).fetchall()
    rows, size = [], 0
    for row in found:
        rows.append(row)
        size += row[2]
        if size >= STEP_BYTES:
            break
    _delete(connection, rows)
    return len(rows), len(rows) == len(found) < STEP_ENTRIES


def _append(connection: sqlite3.Connection, delivery: Delivery, bounds: QueueLimits) -> bool:
    """Append the blob if it fits; older relayed ones go for a relayed one. False too if there is no such device."""
    row = connection.execute(_STANDING, (delivery.device_id,)).fetchone()
    if row is None:
        return False
    last_seq, *held = row
    if not _make_room(connection, delivery, QueueStanding(*held), bounds):
        return False
    size = len(delivery.blob)
    counts = (1, size, 0, 0) if delivery.sender == FROM_SERVER else (1, size, 1, size)
    connection.execute(_TAKE, (*counts, delivery.device_id))
    connection.execute(
        _INSERT,
        (
            delivery.device_id,
            last_seq + 1,
            delivery.sender,
            delivery.blob,
            delivery.expires_at,
            delivery.urgency,
            delivery.topic,
            delivery.question_id,
            delivery.push_until,
        ),
    )
    return True


def _make_room(
    connection: sqlite3.Connection, delivery: Delivery, standing: QueueStanding, bounds: QueueLimits
) -> bool:
    """Tell whether the blob fits in the queue as it stands; older relayed ones go for a relayed one."""
    size = len(delivery.blob)
    if delivery.sender == FROM_SERVER:
        return has_room(standing, size, bounds, is_essential=delivery.is_essential)
    if has_room_for_relayed(standing, size, bounds):
        return True
    if not can_make_room_for_relayed(standing, size, bounds):
        return False
    oldest = connection.execute(
        "SELECT rowid, device_id, length(blob), sender FROM queue INDEXED BY queue_relayed "
        "WHERE device_id = ? AND sender <> 'server' ORDER BY seq",
        (delivery.device_id,),
    )
    going = []
    while not has_room_for_relayed(standing, size, bounds):
        row = next(oldest)
        going.append(row)
        standing = standing.without(1, row[2])
    oldest.close()
    _delete(connection, going)
    return True


def _delete(connection: sqlite3.Connection, rows: Sequence[tuple[int, str, int, str]]) -> None:
    """Delete entries given as rowid, device, size and sender, and count them out."""
    gone: dict[str, list[int]] = {}
    for _, device_id, size, sender in rows:
        counts = gone.setdefault(device_id, [0, 0, 0, 0])
        relayed = sender != FROM_SERVER
        for place, count in enumerate((1, size, int(relayed), size if relayed else 0)):
            counts[place] -= count
    connection.executemany("DELETE FROM queue WHERE rowid = ?", [(row[0],) for row in rows])
    connection.executemany(_COUNT, [(*counts, device_id) for device_id, counts in gone.items()])
