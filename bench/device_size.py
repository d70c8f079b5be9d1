"""What an idle phone costs in a PostgreSQL database: its row, owner, token, push subscription, and an empty queue.

Bytes with all indexes, free room left for updates included; when fresh, and after each has had a message and
acknowledged it, which rewrites its row.
"""

import argparse
import asyncio
import logging
from typing import Final

import asyncpg

from bench._many_owners import Owner, fill_postgres
from bench._report import print_table
from reflecto.store.postgres.store import PostgresStore
from tests.builders import NOW, make_delivery
from tests.postgres import Cluster

TABLES: Final = ("owners", "devices", "tokens", "push_subscriptions", "queue")
AT_ONCE: Final = 256
_SIZES: Final = "SELECT " + ", ".join(f"pg_total_relation_size('{each}')" for each in TABLES)


async def sizes(connection: asyncpg.Connection) -> list[int]:  # type: ignore[type-arg]  # takes one in its stubs only
    """Return the bytes of each table, once what is dead in it was swept."""
    await connection.execute("VACUUM")
    row = await connection.fetchrow(_SIZES)
    assert row is not None
    return list(row)


async def message_and_ack(store: PostgresStore, owner: Owner) -> None:
    """Queue something for the phone and acknowledge it."""
    await store.append_to_queues([make_delivery(owner.phone, expires_at=NOW * 2)])
    [entry] = await store.read_queue(owner.phone.id, 0, 1, NOW) or []
    await store.ack_queue(owner.phone.id, entry.seq)


async def measure(cluster: Cluster, devices: int) -> list[list[str]]:
    """Return a row for each moment."""
    address = await cluster.create_database()
    await fill_postgres(address, 0, 0)
    connection = await asyncpg.connect(address)
    empty = await sizes(connection)
    await fill_postgres(address, devices, 0)
    subscriptions = [
        (owner.phone.id, f"https://push.example/{owner.phone.id}{'x' * 150}", bytes(65), bytes(16), 0)
        for owner in map(Owner.of, range(devices))
    ]
    columns = ["device_id", "endpoint", "p256dh", "auth", "since_seq"]
    await connection.copy_records_to_table("push_subscriptions", columns=columns, records=subscriptions)
    rows = []
    fresh = await sizes(connection)
    store = await PostgresStore.open(address)
    for first in range(0, devices, AT_ONCE):
        owners = map(Owner.of, range(first, min(first + AT_ONCE, devices)))
        await asyncio.gather(*(message_and_ack(store, each) for each in owners))
    await store.close()
    for name, now in (("fresh", fresh), ("after a message and its ack", await sizes(connection))):
        each = [(size - before) / devices for size, before in zip(now, empty, strict=True)]
        rows.append([name, *(f"{size:.0f}" for size in each), f"{sum(each):.0f} B"])
    await connection.close()
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=50_000)
    devices: int = parser.parse_args().devices
    logging.disable(logging.WARNING)
    cluster = Cluster.create()
    try:
        rows = asyncio.run(measure(cluster, devices))
    finally:
        cluster.remove()
    print_table(f"Bytes of {devices} idle devices, each", ["when", *TABLES, "all"], rows)


if __name__ == "__main__":
    main()
