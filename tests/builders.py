"""Valid keys, bodies and records; a test names only what it is about."""

import itertools
import os
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeVar

from nacl.signing import SigningKey

from reflecto.contract.ids import new_id, new_receipt
from reflecto.contract.tokens import SCOPES
from reflecto.core.model import Delivery, Device, Emergency, Interaction, Reminder, SetupCode, Tap, Token
from reflecto.core.ports.store import Keep
from reflecto.core.rules.outcomes import Addition, Opening, Redemption, Relaying
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.envelopes import BoxKeys
from tests.fakes import START

R = TypeVar("R")

REFUSALS: Final = (
    *(each for each in Addition if each is not Addition.ADDED),
    *(each for each in Opening if each is not Opening.OPENED),
    *(each for each in Redemption if each is not Redemption.REDEEMED),
    *(each for each in Relaying if each is not Relaying.QUEUED),
    False,
    None,
)

NOW: Final = int(START)
_serial: Final = itertools.count()


def _record(kind: type[R], defaults: dict[str, Any], fields: dict[str, Any]) -> R:
    return kind(**(defaults | fields))


def unique_bytes() -> bytes:
    """Return 32 bytes no other call returns."""
    return sha256(b"%d" % next(_serial)).digest()


@dataclass(frozen=True, slots=True)
class DeviceKeys:
    """Both key pairs of a device."""

    box: BoxKeys = field(default_factory=BoxKeys.generate)
    signing_seed: bytes = field(default_factory=lambda: os.urandom(32))

    @property
    def signing_key(self) -> bytes:
        """The public half of the signing pair."""
        return bytes(SigningKey(self.signing_seed).verify_key)


def enrolment_body(code: str, keys: DeviceKeys | None = None, **fields: Any) -> dict[str, Any]:
    """Return the body of POST /v1/enroll; `class_` stands for `class`."""
    keys = keys or DeviceKeys()
    if "class_" in fields:
        fields["class"] = fields.pop("class_")
    return {
        "code": code,
        "public_key": encode_base64(keys.box.public),
        "signing_key": encode_base64(keys.signing_key),
        "label": "Pixel",
        "type": "android",
        "class": "phone",
    } | fields


def make_device(owner_id: str, **fields: Any) -> Device:
    """Return a phone's record."""
    return _record(
        Device,
        {
            "id": new_id("dev"),
            "owner_id": owner_id,
            "token_hash": unique_bytes(),
            "public_key": unique_bytes(),
            "signing_key": unique_bytes(),
            "label": "Pixel",
            "type": "android",
            "device_class": "phone",
            "app_build": None,
            "created_at": NOW,
        },
        fields,
    )


def make_token(owner_id: str, **fields: Any) -> Token:
    """Return a live token's record, by a name that no other has."""
    token_id = new_id("tok")
    return _record(
        Token,
        {
            "id": token_id,
            "owner_id": owner_id,
            "hash": unique_bytes(),
            "label": f"CI {token_id}",
            "test": False,
            "priority_cap": None,
            "scopes": SCOPES,
            "created_at": NOW,
        },
        fields,
    )


def make_code(**fields: Any) -> SetupCode:
    """Return a setup code's record, for whatever owner there is, valid for 10 minutes."""
    return _record(
        SetupCode, {"hash": unique_bytes(), "owner_id": None, "founds_owner": False, "expires_at": NOW + 600}, fields
    )


def make_interaction(token: Token, **fields: Any) -> Interaction:
    """Return a fresh question's record, open for 10 minutes; its marks are its own."""
    mark = unique_bytes()
    return _record(
        Interaction,
        {
            "id": new_id("int"),
            "owner_id": token.owner_id,
            "token_id": token.id,
            "test": token.test,
            "repeat_mark": mark,
            "content_mark": mark,
            "sealed": b"sealed " + mark,
            "choice_count": 2,
            "created_at": NOW,
            "expires_at": NOW + 600,
        },
        fields,
    )


def make_tap(device: Device, choice_index: int = 0, **fields: Any) -> Tap:
    """Return a signed tap on `device`."""
    return _record(
        Tap,
        {
            "choice_index": choice_index,
            "answered_at": NOW,
            "device_id": device.id,
            "device_label": device.label,
            "signing_key": device.signing_key,
            "signature": unique_bytes() * 2,
        },
        fields,
    )


def make_delivery(device: Device, blob: bytes | None = None, **fields: Any) -> Delivery:
    """Return a blob for the device's queue, kept for 72 hours."""
    return _record(
        Delivery, {"device_id": device.id, "blob": blob or unique_bytes(), "expires_at": NOW + 259_200}, fields
    )


def make_keep(owner_id: str, mark: bytes | None = None, *, now: float = NOW, sealed: bytes = b"sealed") -> Keep[Any]:
    """Return what a verb keeps for a day: `sealed` and its outcome; nothing of one that refused."""

    def seal(outcome: object) -> bytes | None:
        parts = outcome if isinstance(outcome, tuple) else (outcome,)
        is_refused = any(part in REFUSALS or getattr(part, "accepted", True) is False for part in parts)
        return None if is_refused else sealed + repr(parts[0]).encode()

    return Keep(mark or unique_bytes(), owner_id, now, int(now) + 86_400, seal)


def make_reminder(token: Token, **fields: Any) -> Reminder:
    """Return a reminder's record, due in an hour."""
    reminder = {
        "id": new_id("rem"),
        "owner_id": token.owner_id,
        "token_id": token.id,
        "sealed": b"sealed " + unique_bytes(),
        "created_at": NOW,
        "fire_at": NOW + 3_600,
    }
    return _record(Reminder, reminder, fields)


def make_emergency(token: Token, **fields: Any) -> Emergency:
    """Return an emergency's record, which rings every minute for an hour."""
    emergency = {
        "receipt": new_receipt(),
        "message_id": new_id("msg"),
        "owner_id": token.owner_id,
        "token_id": token.id,
        "token_label": token.label,
        "retry_seconds": 60,
        "created_at": NOW,
        "expires_at": NOW + 3_600,
        "callback": None,
        "last_delivered_at": NOW,
        "next_round_at": NOW + 60,
    }
    return _record(Emergency, emergency, fields)
