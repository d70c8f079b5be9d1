"""The store's verbs on itself: activity, sweeping, facts of the installation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from reflecto.contract.limits import (
    KEPT_REPLIES_MAX_PER_OWNER,
    RECEIPT_SECONDS,
    RETENTION_SECONDS,
    REVOKED_TOKEN_AUDIT_SECONDS,
)
from reflecto.core.ports.wakeups import News
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.durability import find_concerns
from reflecto.store.postgres.kept_replies import FIND, delete_older, oldest_to_stay
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.transactions import Transaction

STEP_ROWS: Final = 500  # of each table in one transaction, so that nobody waits long behind it
NOTE_TRIES: Final = 3  # what others hold all these times is left: the next note of it is newer

PROBE_BYTES: Final = 8_192  # more than a page, so that one must be found

# Table, its key, what a row has ended by, and for how many seconds more it is kept. Retention is decided by comparison
# when reading; this only tidies.
_ENDED: Final = (
    ("setup_codes", "hash", "expires_at", 0),
    ("pairings", "id", "expires_at", 0),
    ("interactions", "id", "coalesce(ended_at, expires_at)", RETENTION_SECONDS),
    ("emergencies", "receipt", "created_at", RECEIPT_SECONDS),
    ("kept_replies", "mark", "expires_at", 0),
    ("tokens", "id", "revoked_at", REVOKED_TOKEN_AUDIT_SECONDS),
)
_EXPIRED_ENTRIES: Final = (
    f"SELECT device_id, seq FROM queue WHERE expires_at <= $1::bigint ORDER BY expires_at LIMIT {STEP_ROWS}"
)
_DELETE_ENTRIES: Final = (
    "DELETE FROM queue USING unnest($1::text[], $2::bigint[]) AS gone (device_id, seq) "
    "WHERE queue.device_id = gone.device_id AND queue.seq = gone.seq "
    "RETURNING queue.device_id, octet_length(blob), sender <> 'server'"
)


class HousekeepingVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def record_activity(self, tokens: Mapping[str, int], devices: Mapping[str, int]) -> None:
        for table, column, times in (("tokens", "last_used_at", tokens), ("devices", "last_seen_at", devices)):
            ids = sorted(times)
            for start in range(0, len(ids), STEP_ROWS):
                left = {each: times[each] for each in ids[start : start + STEP_ROWS]}
                for _ in range(NOTE_TRIES):
                    left = left and await self._note(table, column, left)

    async def _note(self, table: str, column: str, times: Mapping[str, int]) -> dict[str, int]:
        """Write the times of rows that nobody holds; return those of the others."""

        async def note(transaction: Transaction) -> dict[str, int]:
            held = await transaction.connection.fetch(
                f"SELECT id FROM {table} WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED",
                list(times),
            )
            ids = {row[0] for row in held}
            await transaction.connection.execute(
                f"UPDATE {table} SET {column} = given.at FROM unnest($1::text[], $2::bigint[]) AS given (id, at) "
                f"WHERE {table}.id = given.id AND ({column} IS NULL OR {column} < given.at)",
                list(ids),
                [times[each] for each in ids],
            )
            if len(ids) == len(times):
                return {}
            there = await transaction.connection.fetch(
                f"SELECT id FROM {table} WHERE id = ANY($1::text[])", list(times.keys() - ids)
            )
            return {row[0]: times[row[0]] for row in there}

        return await self._database.transactions.run(note)

    async def sweep(self, now: float, replies_per_owner: int = KEPT_REPLIES_MAX_PER_OWNER) -> int:
        run, at = self._database.transactions.run, int(now)
        entries = await run(lambda transaction: _sweep_queues(transaction, at))
        swept = entries + await run(lambda transaction: _sweep_others(transaction, at))
        return swept or await self._sweep_replies(at, replies_per_owner)

    async def _sweep_replies(self, now: int, replies_per_owner: int) -> int:
        """Delete what owners have kept beyond the newest, in steps. Who has is counted once."""
        run = self._database.transactions.run
        oldest = await run(lambda transaction: oldest_to_stay(transaction.connection, now, replies_per_owner))
        swept = 0
        while oldest and (
            step := await run(lambda transaction: delete_older(transaction.connection, oldest, STEP_ROWS))
        ):
            swept += step
        return swept

    async def find_kept_reply(self, mark: bytes, now: float) -> bytes | None:
        rows = await self._database.reads.gathered(FIND, mark, int(now))
        return rows[0][0] if rows else None

    async def remember(self, name: str, value: str) -> None:
        async def keep(transaction: Transaction) -> None:
            await transaction.connection.execute(
                "INSERT INTO installation (name, value) VALUES ($1, $2) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                name,
                value,
            )

        await self._database.transactions.run(keep)

    async def remember_once(self, name: str, value: str) -> str:
        async def keep(transaction: Transaction) -> str:
            await transaction.connection.execute(
                "INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, value
            )
            kept = await transaction.connection.fetchval("SELECT value FROM installation WHERE name = $1", name)
            return str(kept)

        return await self._database.transactions.run(keep)

    async def recall(self, name: str) -> str | None:
        row = await self._database.reads.row("SELECT value FROM installation WHERE name = $1", name)
        return row[0] if row else None

    async def probe(self) -> Sequence[str]:
        async def take_and_give_back(transaction: Transaction) -> Sequence[str]:
            await transaction.connection.execute(
                "INSERT INTO installation (name, value) VALUES ('probe', $1)", "x" * PROBE_BYTES
            )
            await transaction.connection.execute("DELETE FROM installation WHERE name = 'probe'")
            return await find_concerns(transaction.connection)

        return await self._database.transactions.run(take_and_give_back)

    def when_changed_elsewhere(self, callback: Callable[[News], None]) -> None:
        self._database.news.when_heard(callback)
        self._database.listener.start()

    async def close(self) -> None:
        await self._database.close()


async def _sweep_queues(transaction: Transaction, now: int) -> int:
    """Delete expired entries of owners whom no other transaction holds, and count them out."""
    expired = await transaction.connection.fetch(_EXPIRED_ENTRIES, now)
    if not expired:
        return 0
    facts = await transaction.lock(Needs(devices={row[0] for row in expired}), idle_only=True)
    if not facts.owners:  # all are busy: wait for one of them
        facts = await transaction.lock(Needs(devices={expired[0][0]}))
    going = [(device_id, seq) for device_id, seq in expired if device_id in facts.queues]
    if not going:
        return 0
    gone = await transaction.connection.fetch(_DELETE_ENTRIES, *map(list, zip(*going, strict=True)))
    for device_id, size, is_relayed in gone:
        facts.count_out(device_id, size, is_relayed)
    return len(gone)


async def _sweep_others(transaction: Transaction, now: int) -> int:
    """Delete rows that have ended and that nobody holds."""
    swept = 0
    for table, key, ended, kept_seconds in _ENDED:
        gone = await transaction.connection.fetchval(
            f"WITH gone AS (DELETE FROM {table} WHERE {key} = ANY(ARRAY("
            f"SELECT {key} FROM {table} WHERE {ended} <= $1::bigint ORDER BY {ended} LIMIT {STEP_ROWS} "
            "FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) FROM gone",
            now - kept_seconds,
        )
        swept += gone
    return swept
