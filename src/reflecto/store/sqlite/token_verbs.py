"""The store's verbs on sender tokens."""

import sqlite3
from collections.abc import Mapping, Sequence

from reflecto.core.model import Delivery, Holder, Token, TokenChanges
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_token
from reflecto.core.rules.outcomes import Addition, Change, ChangeResult
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.core.rules.senders import changes_to, judge_change, should_tell_refusal
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.queues import append_to_queues
from reflecto.store.sqlite.statements import find_live_token, is_device, list_holders, owner_exists
from reflecto.store.tables import TOKEN_CHANGES, TOKENS


class TokenVerbs:
    """Part of `SqliteStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database
    _bounds: QueueLimits

    async def find_token(self, token_hash: bytes) -> Token | None:
        row = self._database.row(f"{TOKENS.select} WHERE hash = ? AND revoked_at IS NULL", (token_hash,))
        return TOKENS.of(row) if row else None

    async def find_token_by_short_form(self, short_hash: bytes) -> Token | None:
        row = self._database.row(f"{TOKENS.select} WHERE short_hash = ? AND revoked_at IS NULL", (short_hash,))
        return TOKENS.of(row) if row else None

    async def keep_short_form(self, token_id: str, short_hash: bytes) -> None:
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE tokens SET short_hash = ? WHERE id = ?", (short_hash, token_id)
            )
        )

    async def add_token(
        self, token: Token, phone_id: str | None = None, keep: Keep[Addition] | None = None
    ) -> Addition:
        def add(connection: sqlite3.Connection) -> Addition:
            is_maker_there = owner_exists(connection, token.owner_id) and (
                phone_id is None or is_device(connection, phone_id)
            )
            addition = judge_token(token.label, _labels(connection, token.owner_id), is_maker_there=is_maker_there)
            if addition is Addition.ADDED:
                connection.execute(TOKENS.insert, TOKENS.row(token))
            return addition

        return await self._database.write(add, keep)

    async def list_tokens(self, owner_id: str) -> list[Token]:
        rows = self._database.rows(
            f"{TOKENS.select} WHERE owner_id = ? AND revoked_at IS NULL ORDER BY created_at, id",
            (owner_id,),
        )
        return [TOKENS.of(row) for row in rows]

    async def change_token(
        self, owner_id: str, token_id: str, phone_id: str, changes: TokenChanges, notices: Sequence[Delivery]
    ) -> ChangeResult:
        def change(connection: sqlite3.Connection) -> ChangeResult:
            if not is_device(connection, phone_id, owner_id):
                return ChangeResult(Change.PHONE_REMOVED)
            found = find_live_token(connection, token_id)
            others = _labels(connection, owner_id, but=token_id)
            result = judge_change(found if found and found.owner_id == owner_id else None, changes, others)
            if result.token is not None:
                connection.execute(
                    f"UPDATE tokens SET {TOKEN_CHANGES.assignments} WHERE id = ?",
                    (*TOKEN_CHANGES.row(changes_to(result.token)), token_id),
                )
                append_to_queues(connection, notices, self._bounds)
            return result

        return await self._database.write(change)

    async def revoke_token(self, owner_id: str, token_id: str, now: float) -> bool:
        def revoke(connection: sqlite3.Connection) -> bool:
            revoked = connection.execute(
                "UPDATE tokens SET revoked_at = ? WHERE id = ? AND owner_id = ? AND revoked_at IS NULL",
                (int(now), token_id, owner_id),
            )
            if revoked.rowcount == 0:
                return False
            connection.execute("DELETE FROM reminders WHERE token_id = ?", (token_id,))
            return True

        return await self._database.write(revoke, frees=True)

    async def list_holders(self, owner_id: str, now: float) -> list[Holder]:
        return self._database.read(lambda connection: list_holders(connection, owner_id, now))

    async def tell_refusal_once(
        self, owner_id: str, token_id: str, notices: Sequence[Delivery], now: float
    ) -> list[str] | None:
        def tell(connection: sqlite3.Connection) -> list[str] | None:
            token = find_live_token(connection, token_id)
            if token is None or not should_tell_refusal(token, list_holders(connection, owner_id, now)):
                return None
            connection.execute("UPDATE tokens SET refused_at = ? WHERE id = ?", (int(now), token_id))
            return append_to_queues(connection, notices, self._bounds)

        return await self._database.write(tell)

    async def load_monthly_counts(self, month: str) -> dict[str, int]:
        return dict(self._database.rows("SELECT token_id, count FROM monthly_counts WHERE month = ?", (month,)))

    async def add_monthly_counts(self, month: str, counts: Mapping[str, int]) -> None:
        def add(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM monthly_counts WHERE month <> ?", (month,))
            connection.executemany(
                "INSERT INTO monthly_counts (token_id, month, count) SELECT id, :month, max(0, :count) FROM tokens "
                "WHERE id = :id ON CONFLICT (token_id) DO UPDATE SET count = max(0, count + :count)",
                [{"id": token_id, "month": month, "count": count} for token_id, count in counts.items()],
            )

        await self._database.write(add)


def _labels(connection: sqlite3.Connection, owner_id: str, *, but: str = "") -> list[str]:
    rows = connection.execute(
        "SELECT label FROM tokens WHERE owner_id = ? AND revoked_at IS NULL AND id <> ?", (owner_id, but)
    )
    return [row[0] for row in rows]
