"""What several of the store's transactions do, as functions of an open transaction."""

import sqlite3
from typing import Final

from reflecto.core.model import Device, Holder, Interaction, Token
from reflecto.core.rules.interactions import is_retained
from reflecto.store.tables import DEVICES, INTERACTIONS, TOKENS

IS_PENDING: Final = "status = 'pending' AND expires_at > :now AND (tether IS NULL OR awaited_until + tether > :now)"

MAY_BE_PUSHED: Final = "(push_until IS NULL OR push_until > :now)"  # of an entry


def add_device(connection: sqlite3.Connection, device: Device) -> None:
    """Insert the device."""
    connection.execute(DEVICES.insert, DEVICES.row(device))


def count_devices(connection: sqlite3.Connection, owner_id: str) -> int:
    """Return how many devices the owner has."""
    (count,) = connection.execute("SELECT count(*) FROM devices WHERE owner_id = ?", (owner_id,)).fetchone()
    return int(count)


def find_interaction(connection: sqlite3.Connection, interaction_id: str, now: float) -> Interaction | None:
    """Return the question unless its retention has ended."""
    row = connection.execute(f"{INTERACTIONS.select} WHERE id = ?", (interaction_id,)).fetchone()
    interaction = INTERACTIONS.of(row) if row else None
    return interaction if interaction and is_retained(interaction, now) else None


def find_repeat(connection: sqlite3.Connection, token_id: str, mark: bytes, now: float) -> Interaction | None:
    """Return the token's question with this mark whose window is open."""
    row = connection.execute(
        f"{INTERACTIONS.select} WHERE token_id = ? AND repeat_mark = ? AND expires_at > ?",
        (token_id, mark, now),
    ).fetchone()
    return INTERACTIONS.of(row) if row else None


def count_pending(connection: sqlite3.Connection, owner_id: str, now: float, *, test: bool) -> int:
    """Return how many questions of the owner wait for an answer."""
    (count,) = connection.execute(
        f"SELECT count(*) FROM interactions WHERE owner_id = :owner_id AND test = :test AND {IS_PENDING}",
        {"owner_id": owner_id, "test": test, "now": now},
    ).fetchone()
    return int(count)


def list_holders(connection: sqlite3.Connection, owner_id: str, now: float) -> list[Holder]:
    """Return the tokens with live pending questions of the owner, the one with the most first."""
    rows = connection.execute(
        "SELECT token_id, count(*), max(created_at) FROM interactions "
        f"WHERE owner_id = :owner_id AND test = 0 AND {IS_PENDING} GROUP BY token_id ORDER BY count(*) DESC, token_id",
        {"owner_id": owner_id, "now": now},
    )
    return [Holder(*row) for row in rows]


def phone_ids(connection: sqlite3.Connection, owner_id: str) -> frozenset[str]:
    """Return the ids of the owner's phones."""
    rows = connection.execute("SELECT id FROM devices WHERE owner_id = ? AND class = 'phone'", (owner_id,))
    return frozenset(row[0] for row in rows)


def is_live_token(connection: sqlite3.Connection, token_id: str) -> bool:
    """Tell whether the token exists and was not revoked."""
    return find_live_token(connection, token_id) is not None


def find_live_token(connection: sqlite3.Connection, token_id: str) -> Token | None:
    """Return the token unless it was revoked."""
    row = connection.execute(f"{TOKENS.select} WHERE id = ? AND revoked_at IS NULL", (token_id,)).fetchone()
    return TOKENS.of(row) if row else None


def is_device(connection: sqlite3.Connection, device_id: str, owner_id: str | None = None) -> bool:
    """Tell whether the device exists, as this owner's where one is named."""
    row = connection.execute(
        "SELECT 1 FROM devices WHERE id = ? AND owner_id = coalesce(?, owner_id)", (device_id, owner_id)
    ).fetchone()
    return row is not None


def owner_exists(connection: sqlite3.Connection, owner_id: str | None = None) -> bool:
    """Tell whether this owner exists, or any where none is named."""
    row = connection.execute("SELECT 1 FROM owners WHERE id = coalesce(?, id) LIMIT 1", (owner_id,)).fetchone()
    return row is not None
