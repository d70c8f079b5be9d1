"""The store's verbs on itself: activity, sweeping, facts of the installation."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from reflecto.contract.limits import (
    KEPT_REPLIES_MAX_PER_OWNER,
    RECEIPT_SECONDS,
    RETENTION_SECONDS,
    REVOKED_TOKEN_AUDIT_SECONDS,
)
from reflecto.core.model import StoreLoad
from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.wakeups import News
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.kept_replies import FIND, delete_older, oldest_to_stay
from reflecto.store.sqlite.queues import delete_step

SWEEP_ROWS: Final = 200  # of each table in one step, so that no request waits behind a long delete

PROBE_BYTES: Final = 8_192  # more than a page, so that one must be found

# Table, its key, and when a row has ended. Retention is decided by comparison when reading; this only tidies.
_ENDED: Final = (
    ("setup_codes", "hash", "expires_at <= :now"),
    ("pairings", "id", "expires_at <= :now"),
    ("interactions", "id", f"coalesce(ended_at, expires_at) <= :now - {RETENTION_SECONDS}"),
    ("emergencies", "receipt", f"created_at <= :now - {RECEIPT_SECONDS}"),
    ("kept_replies", "mark", "expires_at <= :now"),
    ("tokens", "id", f"revoked_at <= :now - {REVOKED_TOKEN_AUDIT_SECONDS}"),
)

_QUEUES: Final = """
SELECT coalesce(sum(queue_entries), 0), coalesce(sum(queue_bytes), 0), coalesce(max(queue_entries), 0),
       coalesce(max(queue_bytes), 0)
FROM devices
"""
_PENDING: Final = "SELECT count(*) FROM interactions WHERE status = 'pending' AND test = 0 AND expires_at > ?"


class HousekeepingVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def record_activity(self, tokens: Mapping[str, int], devices: Mapping[str, int]) -> None:
        def record(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE tokens SET last_used_at = :at WHERE id = :id AND coalesce(last_used_at, 0) < :at",
                [{"id": each, "at": when} for each, when in tokens.items()],
            )
            connection.executemany(
                "UPDATE devices SET last_seen_at = :at WHERE id = :id AND coalesce(last_seen_at, 0) < :at",
                [{"id": each, "at": when} for each, when in devices.items()],
            )

        await self._database.write(record)

    async def sweep(self, now: float, replies_per_owner: int = KEPT_REPLIES_MAX_PER_OWNER) -> int:
        def sweep(connection: sqlite3.Connection) -> int:
            entries, _ = delete_step(connection, "expires_at <= ?", now)
            return entries + sum(
                connection.execute(
                    f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {ended} LIMIT {SWEEP_ROWS})",
                    {"now": now},
                ).rowcount
                for table, key, ended in _ENDED
            )

        return await self._database.write(sweep, frees=True) or await self._sweep_replies(now, replies_per_owner)

    async def _sweep_replies(self, now: float, replies_per_owner: int) -> int:
        """Delete what owners have kept beyond the newest, in steps. Who has is counted once, and holds nobody up."""
        oldest = await self._database.read_apart(lambda connection: oldest_to_stay(connection, now, replies_per_owner))
        swept = 0
        while oldest and (
            step := await self._database.write(
                lambda connection: delete_older(connection, oldest, SWEEP_ROWS), frees=True
            )
        ):
            swept += step
        return swept

    async def find_kept_reply(self, mark: bytes, now: float) -> bytes | None:
        row = self._database.row(FIND, (mark, now))
        return row[0] if row else None

    async def remember(self, name: str, value: str) -> None:
        await self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO installation (name, value) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )
        )

    async def remember_once(self, name: str, value: str) -> str:
        def remember(connection: sqlite3.Connection) -> str:
            connection.execute(
                "INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value)
            )
            (kept,) = connection.execute("SELECT value FROM installation WHERE name = ?", (name,)).fetchone()
            return str(kept)

        return await self._database.write(remember)

    async def recall(self, name: str) -> str | None:
        row = self._database.row("SELECT value FROM installation WHERE name = ?", (name,))
        return row[0] if row else None

    async def measure_load(self, now: float, max_age_seconds: float = 0) -> StoreLoad:  # noqa: ARG002  always fresh
        def measure(connection: sqlite3.Connection) -> StoreLoad:
            queues = connection.execute(_QUEUES).fetchone()
            return StoreLoad(*queues, *connection.execute(_PENDING, (now,)).fetchone())

        return await self._database.read_apart(measure)

    @property
    def work(self) -> StoreWork:
        return self._database.work

    async def probe(self) -> Sequence[str]:
        def take_and_give_back(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO installation (name, value) VALUES ('probe', ?)", ("x" * PROBE_BYTES,))
            connection.execute("DELETE FROM installation WHERE name = 'probe'")

        await self._database.write(take_and_give_back)
        return ()

    def when_changed_elsewhere(self, callback: Callable[[News], None]) -> None:
        self._database.when_changed_elsewhere(callback)

    async def close(self) -> None:
        await self._database.close()
