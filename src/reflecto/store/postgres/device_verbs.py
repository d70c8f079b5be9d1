"""The store's verbs on enrolment and devices."""

from collections.abc import Sequence
from typing import Final

from reflecto.core.model import Delivery, Device, DeviceChanges, Owner, SetupCode, Token
from reflecto.core.ports.store import Keep
from reflecto.core.rules.enrolment import RedemptionFacts, judge_redemption
from reflecto.core.rules.outcomes import Redemption
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.reads import Gathered
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.tables import DEVICE_CHANGES, DEVICES, SETUP_CODES, TOKENS

STEP_ENTRIES: Final = 1_000  # of queues deleted in one transaction when an owner leaves, so that no statement is long

_COLUMNS: Final = ", ".join(f"devices.{name}" for name in DEVICES.names)
_FIND_CODE: Final = f"{SETUP_CODES.select} WHERE hash = $1 AND expires_at > $2::bigint"
_BY_TOKEN: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (hash, place) "
    "JOIN devices ON devices.token_hash = wanted.hash"
)
_OF_OWNER: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::text[]) WITH ORDINALITY AS wanted (owner_id, place) "
    "JOIN devices ON devices.owner_id = wanted.owner_id ORDER BY devices.created_at, devices.id"
)
_UPDATE: Final = (
    "UPDATE devices SET "
    f"{', '.join(f'{name} = coalesce(${place}, {name})' for place, name in enumerate(DEVICE_CHANGES.names, 2))} "
    f"WHERE id = $1 RETURNING {DEVICES.columns}"
)
_DELETE_SOME_ENTRIES: Final = (
    "DELETE FROM queue WHERE (device_id, seq) IN "
    f"(SELECT device_id, seq FROM queue WHERE device_id = ANY($1::text[]) LIMIT {STEP_ENTRIES}) "
    "RETURNING device_id, octet_length(blob), sender <> 'server'"
)


class DeviceVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def add_setup_code(self, code: SetupCode, keep: Keep[bool] | None = None) -> bool:
        async def add(transaction: Transaction) -> bool:
            makers = () if code.phone_id is None else (code.phone_id,)
            facts = await transaction.lock(Needs(devices=makers, keep=keep))
            if not facts.queues.keys() >= set(makers):
                return False
            await transaction.connection.execute(SETUP_CODES.numbered_insert, *SETUP_CODES.row(code))
            return True

        return await self._database.transactions.run(add)

    async def find_setup_code(self, code_hash: bytes, now: float) -> SetupCode | None:
        row = await self._database.reads.row(_FIND_CODE, code_hash, int(now))
        return SETUP_CODES.of(row) if row else None

    async def redeem_setup_code(
        self,
        code_hash: bytes,
        device: Device,
        default_token: Token | None,
        deliveries: Sequence[Delivery],
        now: float,
        keep: Keep[Redemption] | None = None,
    ) -> Redemption:
        async def redeem(transaction: Transaction) -> Redemption:
            connection = transaction.connection
            if default_token is not None:
                await transaction.lock_installation()
            facts = await transaction.lock(Needs(owners=(device.owner_id,), deliveries=deliveries, keep=keep))
            row = await connection.fetchrow(f"{_FIND_CODE} FOR UPDATE", code_hash, int(now))
            redemption = judge_redemption(
                RedemptionFacts(
                    code=SETUP_CODES.of(tuple(row)) if row else None,
                    has_owners=await connection.fetchval("SELECT EXISTS (SELECT 1 FROM owners)"),
                    is_owner_there=device.owner_id in facts.owners,
                    devices=len(facts.devices_of(device.owner_id)),
                ),
                founds=default_token is not None,
            )
            if redemption is not Redemption.REDEEMED:
                return redemption
            if default_token is not None:
                await connection.execute(
                    "INSERT INTO owners (id, created_at) VALUES ($1, $2)", device.owner_id, device.created_at
                )
                await connection.execute(TOKENS.numbered_insert, *TOKENS.row(default_token))
            await connection.execute("DELETE FROM setup_codes WHERE hash = $1", code_hash)
            await transaction.add_device(device)
            facts.append(deliveries)
            return Redemption.REDEEMED

        return await self._database.transactions.run(redeem)

    async def list_owners(self) -> list[Owner]:
        rows = await self._database.reads.rows(
            "SELECT id, created_at, ARRAY(SELECT label FROM devices WHERE owner_id = owners.id "
            "ORDER BY created_at, id) FROM owners ORDER BY created_at, id"
        )
        return [Owner(owner_id, created_at, tuple(labels)) for owner_id, created_at, labels in rows]

    async def find_device_by_token(self, token_hash: bytes) -> Device | None:
        rows = await self._database.reads.gathered(_BY_TOKEN, token_hash)
        return DEVICES.of(rows[0]) if rows else None

    async def list_devices(self, owner_id: str) -> list[Device]:
        return [DEVICES.of(row) for row in await self._database.reads.gathered(_OF_OWNER, owner_id)]

    async def update_device(self, device_id: str, changes: DeviceChanges) -> Device | None:
        async def update(transaction: Transaction) -> Device | None:
            row = await transaction.connection.fetchrow(_UPDATE, device_id, *DEVICE_CHANGES.row(changes))
            return DEVICES.of(tuple(row)) if row else None

        return await self._database.transactions.run(update)

    async def remove_device(self, owner_id: str, device_id: str) -> bool:
        async def remove(transaction: Transaction) -> bool | None:
            facts = await transaction.lock(Needs(owners=(owner_id,)))
            if device_id not in {each.id for each in facts.devices_of(owner_id)}:
                return False
            if not await _delete_entries(transaction, [device_id]):
                return None
            await transaction.connection.execute("DELETE FROM devices WHERE id = $1", device_id)
            # It has the keys too.
            await transaction.connection.execute("DELETE FROM pairings WHERE device_id = $1", device_id)
            transaction.forget_device(device_id)
            return True

        while (removed := await self._database.transactions.run(remove)) is None:
            pass
        return removed

    async def delete_owner(self, owner_id: str) -> None:
        async def delete(transaction: Transaction) -> bool:
            facts = await transaction.lock(Needs(owners=(owner_id,)))
            device_ids = [each.id for each in facts.devices_of(owner_id)]
            if not await _delete_entries(transaction, device_ids):
                return False
            pending = await transaction.connection.fetch(
                "SELECT id FROM interactions WHERE owner_id = $1 AND status = 'pending'", owner_id
            )
            transaction.changed.watched_ids.update(row[0] for row in pending)
            for device_id in device_ids:
                transaction.forget_device(device_id)
            await transaction.connection.execute("DELETE FROM owners WHERE id = $1", owner_id)
            return True

        while not await self._database.transactions.run(delete):
            pass


async def _delete_entries(transaction: Transaction, device_ids: Sequence[str]) -> bool:
    """Delete some of what waits for devices whose owner is locked; tell whether that was all."""
    gone = await transaction.connection.fetch(_DELETE_SOME_ENTRIES, device_ids)
    for device_id, size, is_relayed in gone:
        transaction.facts[-1].count_out(device_id, size, is_relayed)
    return len(gone) < STEP_ENTRIES
