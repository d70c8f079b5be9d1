"""The store's verbs on push subscriptions."""

from typing import Final

from reflecto.core.model import PushBacklog, PushSubscription, PushTarget
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.reads import Gathered
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.table import numbered
from reflecto.store.tables import PUSH_SUBSCRIPTIONS

BACKLOG_ROWS: Final = 5_000

_SUBSCRIPTION: Final = ", ".join(f"subscribed.{name}" for name in PUSH_SUBSCRIPTIONS.names)
_FIND: Final = Gathered(
    f"SELECT wanted.place, devices.owner_id, subscribed.since_seq, devices.last_seq, {_SUBSCRIPTION} "
    "FROM unnest($1::text[]) WITH ORDINALITY AS wanted (device_id, place) "
    "JOIN push_subscriptions AS subscribed ON subscribed.device_id = wanted.device_id "
    "JOIN devices ON devices.id = wanted.device_id"
)
# A million devices take a while: so many at a time, and other reads come in between.
_BACKLOG: Final = (
    "SELECT line.device_id, devices.last_seq, devices.last_seq > line.since_seq "
    "AND (line.process_id IS NULL OR line.claimed_until < clock_timestamp()) "
    "AND EXISTS (SELECT 1 FROM queue WHERE queue.device_id = line.device_id AND queue.seq > line.since_seq "
    "AND queue.expires_at > $2::bigint AND (queue.push_until IS NULL OR queue.push_until > $2::bigint)) "
    "FROM (SELECT device_id, since_seq, process_id, claimed_until FROM push_subscriptions WHERE device_id > $1 "
    f"ORDER BY device_id LIMIT {BACKLOG_ROWS}) AS line JOIN devices ON devices.id = line.device_id "
    "ORDER BY line.device_id"
)
_SET: Final = (  # whoever pushes to the device goes on with it
    f"INSERT INTO push_subscriptions (device_id, since_seq, {PUSH_SUBSCRIPTIONS.columns}) "
    f"VALUES ({numbered(2 + len(PUSH_SUBSCRIPTIONS.names))}) ON CONFLICT (device_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ("since_seq", *PUSH_SUBSCRIPTIONS.names))
)


class PushVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def set_push_subscription(self, device_id: str, subscription: PushSubscription | None) -> bool:
        endpoint = subscription.endpoint if subscription else None

        async def replace(transaction: Transaction) -> bool:
            connection, device_ids = transaction.connection, [device_id]
            if endpoint is not None:  # another owner's device may have it
                await transaction.lock_installation()
                rows = await connection.fetch("SELECT device_id FROM push_subscriptions WHERE endpoint = $1", endpoint)
                device_ids += [row[0] for row in rows]
            facts = await transaction.lock(Needs(devices=device_ids))
            if device_id not in facts.queues:
                return False
            if subscription is None:
                await connection.execute("DELETE FROM push_subscriptions WHERE device_id = $1", device_id)
                return True
            await connection.execute(
                "DELETE FROM push_subscriptions WHERE endpoint = $1 AND device_id <> $2", endpoint, device_id
            )
            last_seq = facts.queues[device_id].last_seq
            await connection.execute(_SET, device_id, last_seq, *PUSH_SUBSCRIPTIONS.row(subscription))
            return True

        return await self._database.transactions.run(replace)

    async def find_push_target(self, device_id: str) -> PushTarget | None:
        rows = await self._database.reads.gathered(_FIND, device_id)
        if not rows:
            return None
        owner_id, since_seq, last_seq, *subscription = rows[0]
        return PushTarget(owner_id, PUSH_SUBSCRIPTIONS.of(subscription), since_seq, last_seq)

    async def drop_push_subscription(self, device_id: str, endpoint: str) -> bool:
        async def drop(transaction: Transaction) -> bool:
            await transaction.lock(Needs(devices=(device_id,)))
            dropped = await transaction.connection.fetchval(
                "DELETE FROM push_subscriptions WHERE device_id = $1 AND endpoint = $2 RETURNING true",
                device_id,
                endpoint,
            )
            return dropped is not None

        return await self._database.transactions.run(drop)

    async def list_push_backlog(self, now: float) -> list[PushBacklog]:
        found: list[PushBacklog] = []
        after = ""
        while rows := await self._database.reads.rows(_BACKLOG, after, int(now)):
            found += [PushBacklog(device_id, last_seq) for device_id, last_seq, waits in rows if waits]
            after = rows[-1][0]
        return found
