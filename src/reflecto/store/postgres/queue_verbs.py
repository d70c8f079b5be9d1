"""The store's verbs on queues."""

from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, QueueEntry
from reflecto.core.ports.store import Keep
from reflecto.core.rules.outcomes import Relaying, Sending
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.reads import Gathered
from reflecto.store.tables import QUEUES

# A row without an entry says that the device exists.
_READ: Final = Gathered(
    f"SELECT wanted.place, {', '.join(f'entry.{name}' for name in QUEUES.names)} "
    "FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::float8[], $5::boolean[]) WITH ORDINALITY "
    "AS wanted (device_id, after, most, now, to_push, place) JOIN devices ON devices.id = wanted.device_id "
    f"LEFT JOIN LATERAL (SELECT {QUEUES.columns} FROM queue WHERE queue.device_id = wanted.device_id "
    "AND queue.seq > wanted.after AND queue.expires_at > wanted.now "
    "AND (NOT wanted.to_push OR queue.push_until IS NULL OR queue.push_until > wanted.now) "
    "ORDER BY queue.seq LIMIT wanted.most) AS entry ON true ORDER BY entry.seq"
)


class QueueVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def append_to_queues(self, deliveries: Sequence[Delivery]) -> list[str]:
        return await self._database.batches.run(Needs(deliveries=deliveries), lambda facts: facts.append(deliveries))

    async def send_to_queues(self, deliveries: Sequence[Delivery], keep: Keep[Sending] | None = None) -> Sending:
        needs = Needs(deliveries=deliveries, keep=keep)
        return await self._database.batches.run(needs, lambda facts: facts.send(deliveries))

    async def relay_to_queues(
        self, owner_id: str, deliveries: Sequence[Delivery], keep: Keep[Relaying] | None = None
    ) -> Relaying:
        def relay(facts: Facts) -> Relaying:
            own = {each.id for each in facts.devices_of(owner_id)}
            if not {each.device_id for each in deliveries} | {each.sender for each in deliveries} <= own:
                return Relaying.DEVICE_GONE
            return Relaying.QUEUED if facts.append(deliveries) else Relaying.QUEUES_FULL

        return await self._database.batches.run(Needs(owners=(owner_id,), deliveries=deliveries, keep=keep), relay)

    async def read_queue(
        self, device_id: str, after: int, limit: int, now: float, *, to_push: bool = False
    ) -> list[QueueEntry] | None:
        rows = await self._database.reads.gathered(_READ, device_id, after, limit, now, to_push)
        return [QUEUES.of(row) for row in rows if row[0] is not None] if rows else None

    async def number_from(self, seq: int) -> None:
        self._database.number_from(seq)

    async def ack_queue(self, device_id: str, seq: int) -> bool:
        needs = Needs(devices=(device_id,), acked=((device_id, seq),))
        return await self._database.batches.run(needs, lambda facts: facts.acknowledge(device_id, seq))
