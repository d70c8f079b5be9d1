"""Rows of the tables as the domain's records, and back."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Final

from reflecto.core.model import Approval, Claim, Device, Interaction, Pairing, SetupCode, Tap, Token

Row = Sequence[Any]

INTERACTION_COLUMNS: Final = (
    "id, owner_id, token_id, test, repeat_mark, content_mark, sealed, choice_count, created_at, expires_at, status, "
    "ended_at, choice_index, answered_at, device_id, device_label, signing_key, signature, "
    "tether, awaited_until, reason"
)
DEVICE_COLUMNS: Final = (
    "id, owner_id, token_hash, public_key, signing_key, label, type, class, app_build, created_at, "
    "last_seen_at, last_seq, features"
)
TOKEN_COLUMNS: Final = "id, owner_id, hash, label, test, priority_cap, scopes, created_at, last_used_at, short_hash"
PAIRING_COLUMNS: Final = (
    "id, owner_id, phone_id, expires_at, status, token_hash, device_id, public_key, signing_key, label, type, class, "
    "app_build, proof, commitment, features, phone_nonce, device_nonce, approval, approval_proof, approval_signature"
)
SETUP_CODE_COLUMNS: Final = "hash, owner_id, founds_owner, expires_at, phone_id"


def placeholders(columns: str) -> str:
    """Return as many `?` as there are columns."""
    return ", ".join("?" for _ in columns.split(","))


def interaction_of(row: Row) -> Interaction:
    """Read INTERACTION_COLUMNS."""
    (
        identity, owner_id, token_id, test, repeat_mark, content_mark, sealed, choice_count, created_at, expires_at,
        status, ended_at, choice_index, answered_at, device_id, device_label, signing_key, signature,
        tether, awaited_until, reason,
    ) = row  # fmt: skip
    tap = None
    if choice_index is not None:
        tap = Tap(choice_index, answered_at, device_id, device_label, signing_key, signature)
    return Interaction(
        id=identity,
        owner_id=owner_id,
        token_id=token_id,
        test=bool(test),
        repeat_mark=repeat_mark,
        content_mark=content_mark,
        sealed=sealed,
        choice_count=choice_count,
        created_at=created_at,
        expires_at=expires_at,
        status=status,
        ended_at=ended_at,
        tap=tap,
        tether=tether,
        awaited_until=awaited_until,
        reason=reason,
    )


def interaction_row(new: Interaction) -> Row:
    """Write INTERACTION_COLUMNS of a question nobody has answered."""
    return (
        new.id,
        new.owner_id,
        new.token_id,
        new.test,
        new.repeat_mark,
        new.content_mark,
        new.sealed,
        new.choice_count,
        new.created_at,
        new.expires_at,
        new.status,
        *(None,) * 7,  # ended_at, and what a tap fills in
        new.tether,
        new.awaited_until,
        new.reason,
    )


def device_of(row: Row) -> Device:
    """Read DEVICE_COLUMNS."""
    *fields, features = row
    return Device(*[*fields, tuple(features.split())])


def device_row(device: Device) -> Row:
    """Write DEVICE_COLUMNS."""
    return (
        device.id,
        device.owner_id,
        device.token_hash,
        device.public_key,
        device.signing_key,
        device.label,
        device.type,
        device.device_class,
        device.app_build,
        device.created_at,
        device.last_seen_at,
        device.last_seq,
        " ".join(device.features),
    )


def token_of(row: Row) -> Token:
    """Read TOKEN_COLUMNS."""
    identity, owner_id, token_hash, label, test, priority_cap, scopes, created_at, last_used_at, short_hash = row
    return Token(
        id=identity,
        owner_id=owner_id,
        hash=token_hash,
        label=label,
        test=bool(test),
        priority_cap=priority_cap,
        scopes=tuple(scopes.split()),
        created_at=created_at,
        last_used_at=last_used_at,
        short_hash=short_hash,
    )


def token_row(token: Token) -> Row:
    """Write TOKEN_COLUMNS."""
    return (
        token.id,
        token.owner_id,
        token.hash,
        token.label,
        token.test,
        token.priority_cap,
        " ".join(token.scopes),
        token.created_at,
        token.last_used_at,
        token.short_hash,
    )


def setup_code_of(row: Row) -> SetupCode:
    """Read SETUP_CODE_COLUMNS."""
    code_hash, owner_id, founds_owner, expires_at, phone_id = row
    return SetupCode(code_hash, owner_id, bool(founds_owner), expires_at, phone_id)


def pairing_of(row: Row) -> Pairing:
    """Read PAIRING_COLUMNS."""
    identity, owner_id, phone_id, expires_at, status, *rest = row
    claim, features, (phone_nonce, device_nonce), approval = rest[:10], rest[10], rest[11:13], rest[13:]
    return Pairing(
        id=identity,
        owner_id=owner_id,
        phone_id=phone_id,
        expires_at=expires_at,
        status=status,
        claim=Claim(*[*claim, tuple(features.split())]) if claim[0] is not None else None,
        phone_nonce=phone_nonce,
        device_nonce=device_nonce,
        approval=Approval(*approval) if approval[0] is not None else None,
    )


def pairing_row(pairing: Pairing) -> Row:
    """Write PAIRING_COLUMNS."""
    return (
        pairing.id,
        pairing.owner_id,
        pairing.phone_id,
        pairing.expires_at,
        pairing.status,
        *(astuple(pairing.claim)[:10] if pairing.claim else (None,) * 10),
        " ".join(pairing.claim.features) if pairing.claim else "",
        pairing.phone_nonce,
        pairing.device_nonce,
        *(astuple(pairing.approval) if pairing.approval else (None,) * 3),
    )
