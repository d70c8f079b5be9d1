"""The store's verbs on sender tokens."""

from collections.abc import Mapping, Sequence
from typing import Final

from reflecto.core.model import Delivery, Holder, Token, TokenChanges
from reflecto.core.ports.store import Keep
from reflecto.core.rules.additions import judge_token
from reflecto.core.rules.outcomes import Addition, Change, ChangeResult
from reflecto.core.rules.senders import changes_to, judge_change, should_tell_refusal
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.reads import Gathered
from reflecto.store.postgres.transactions import Transaction
from reflecto.store.table import numbered
from reflecto.store.tables import TOKEN_CHANGES, TOKENS

_COLUMNS: Final = ", ".join(f"tokens.{name}" for name in TOKENS.names)
_FIND: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (hash, place) "
    "JOIN tokens ON tokens.hash = wanted.hash AND tokens.revoked_at IS NULL"
)
_FIND_SHORT: Final = Gathered(
    f"SELECT wanted.place, {_COLUMNS} FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (hash, place) "
    "JOIN tokens ON tokens.short_hash = wanted.hash AND tokens.revoked_at IS NULL"
)

_CHANGE: Final = (
    f"UPDATE tokens SET ({TOKEN_CHANGES.columns}) = ROW({numbered(len(TOKEN_CHANGES.names), 2)}) WHERE id = $1"
)

_HOLDERS: Final = (
    "SELECT token_id, count(*), max(created_at) FROM interactions WHERE owner_id = $1 AND NOT test "
    "AND status = 'pending' AND expires_at > $2::float8 AND (tether IS NULL OR awaited_until + tether > $2::float8) "
    "GROUP BY token_id ORDER BY count(*) DESC, token_id"
)


class TokenVerbs:
    """Part of `PostgresStore`; see `core.ports.store.Store` for what each verb promises."""

    _database: Database

    async def find_token(self, token_hash: bytes) -> Token | None:
        rows = await self._database.reads.gathered(_FIND, token_hash)
        return TOKENS.of(rows[0]) if rows else None

    async def find_token_by_short_form(self, short_hash: bytes) -> Token | None:
        rows = await self._database.reads.gathered(_FIND_SHORT, short_hash)
        return TOKENS.of(rows[0]) if rows else None

    async def keep_short_form(self, token_id: str, short_hash: bytes) -> None:
        async def keep(transaction: Transaction) -> None:
            await transaction.connection.execute(
                "UPDATE tokens SET short_hash = $2 WHERE id = $1", token_id, short_hash
            )

        await self._database.transactions.run(keep)

    async def add_token(
        self, token: Token, phone_id: str | None = None, keep: Keep[Addition] | None = None
    ) -> Addition:
        async def add(transaction: Transaction) -> Addition:
            devices = () if phone_id is None else (phone_id,)
            facts = await transaction.lock(Needs(owners=(token.owner_id,), devices=devices, keep=keep))
            others = await _labels(transaction, token.owner_id)
            is_phone_there = phone_id is None or phone_id in facts.queues
            is_maker_there = token.owner_id in facts.owners and is_phone_there
            addition = judge_token(token.label, others, is_maker_there=is_maker_there)
            if addition is Addition.ADDED:
                await transaction.connection.execute(TOKENS.numbered_insert, *TOKENS.row(token))
            return addition

        return await self._database.transactions.run(add)

    async def list_tokens(self, owner_id: str) -> list[Token]:
        rows = await self._database.reads.rows(
            f"{TOKENS.select} WHERE owner_id = $1 AND revoked_at IS NULL ORDER BY created_at, id", owner_id
        )
        return [TOKENS.of(row) for row in rows]

    async def change_token(
        self, owner_id: str, token_id: str, phone_id: str, changes: TokenChanges, notices: Sequence[Delivery]
    ) -> ChangeResult:
        async def change(transaction: Transaction) -> ChangeResult:
            facts = await transaction.lock(Needs(owners=(owner_id,), devices=(phone_id,), deliveries=notices))
            if phone_id not in {each.id for each in facts.devices_of(owner_id)}:
                return ChangeResult(Change.PHONE_REMOVED)
            row = await transaction.connection.fetchrow(
                f"{TOKENS.select} WHERE id = $1 AND owner_id = $2 AND revoked_at IS NULL", token_id, owner_id
            )
            others = await _labels(transaction, owner_id, but=token_id)
            result = judge_change(TOKENS.of(tuple(row)) if row else None, changes, others)
            if result.token is not None:
                await transaction.connection.execute(_CHANGE, token_id, *TOKEN_CHANGES.row(changes_to(result.token)))
                facts.append(notices)
            return result

        return await self._database.transactions.run(change)

    async def revoke_token(self, owner_id: str, token_id: str, now: float) -> bool:
        async def revoke(transaction: Transaction) -> bool:
            await transaction.lock(Needs(owners=(owner_id,)))
            revoked = await transaction.connection.fetchval(
                "UPDATE tokens SET revoked_at = $3 WHERE id = $1 AND owner_id = $2 AND revoked_at IS NULL "
                "RETURNING true",
                token_id,
                owner_id,
                int(now),
            )
            if revoked is None:
                return False
            await transaction.connection.execute("DELETE FROM reminders WHERE token_id = $1", token_id)
            return True

        return await self._database.transactions.run(revoke)

    async def list_holders(self, owner_id: str, now: float) -> list[Holder]:
        return [Holder(*row) for row in await self._database.reads.rows(_HOLDERS, owner_id, now)]

    async def tell_refusal_once(
        self, owner_id: str, token_id: str, notices: Sequence[Delivery], now: float
    ) -> list[str] | None:
        async def tell(transaction: Transaction) -> list[str] | None:
            facts = await transaction.lock(Needs(owners=(owner_id,), deliveries=notices))
            connection = transaction.connection
            row = await connection.fetchrow(f"{TOKENS.select} WHERE id = $1 AND revoked_at IS NULL", token_id)
            holders = [Holder(*each) for each in await connection.fetch(_HOLDERS, owner_id, now)]
            if row is None or not should_tell_refusal(TOKENS.of(tuple(row)), holders):
                return None
            await connection.execute("UPDATE tokens SET refused_at = $2 WHERE id = $1", token_id, int(now))
            return facts.append(notices)

        return await self._database.transactions.run(tell)

    async def load_monthly_counts(self, month: str) -> dict[str, int]:
        rows = await self._database.reads.rows("SELECT token_id, count FROM monthly_counts WHERE month = $1", month)
        return {row[0]: row[1] for row in rows}

    async def add_monthly_counts(self, month: str, counts: Mapping[str, int]) -> None:
        async def add(transaction: Transaction) -> None:
            connection, token_ids = transaction.connection, sorted(counts)
            await connection.execute("DELETE FROM monthly_counts WHERE month <> $1", month)
            await connection.execute(
                "INSERT INTO monthly_counts (token_id, month, count) SELECT id, $1, 0 FROM tokens "
                "WHERE id = ANY($2::text[]) ORDER BY id ON CONFLICT (token_id) DO NOTHING",
                month,
                token_ids,
            )
            await connection.execute(
                "UPDATE monthly_counts SET count = greatest(0, monthly_counts.count + given.count) "
                "FROM unnest($1::text[], $2::bigint[]) AS given (token_id, count) "
                "WHERE monthly_counts.token_id = given.token_id",
                token_ids,
                [counts[each] for each in token_ids],
            )

        await self._database.transactions.run(add)


async def _labels(transaction: Transaction, owner_id: str, *, but: str = "") -> list[str]:
    rows = await transaction.connection.fetch(
        "SELECT label FROM tokens WHERE owner_id = $1 AND revoked_at IS NULL AND id <> $2", owner_id, but
    )
    return [row[0] for row in rows]
