"""Sealing envelopes for devices: once per recipient, then the plaintext is dropped. Source: devices.md."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import msgspec

from reflecto.contract.envelopes import Envelope, EnvelopeType
from reflecto.contract.limits import QUEUE_TTL_MAX_SECONDS
from reflecto.core.model import Delivery, Device, Token
from reflecto.core.push import topic_of, urgency_of
from reflecto.crypto.envelopes import BoxKeys, seal, shared_key

SHARED_KEYS_CACHED: Final = 4096  # deriving one costs ten times as much as sealing an envelope


class Sealer:
    """Seals envelopes for devices with the server's X25519 keys."""

    def __init__(self, server_keys: BoxKeys) -> None:
        self.server_keys = server_keys
        self._shared_key = lru_cache(SHARED_KEYS_CACHED)(lambda public: shared_key(public, server_keys.secret))

    def seal_for(
        self,
        devices: Iterable[Device],
        envelope: Envelope,
        expires_at: int,
        *,
        question_id: str | None = None,
        push_until: int | None = None,
    ) -> list[Delivery]:
        """Return one delivery per device, each sealed for it; the last two are as in `Delivery`."""
        plaintext = msgspec.json.encode(envelope)
        urgency, topic = urgency_of(envelope), topic_of(envelope)
        is_essential = envelope.type == "interaction" or envelope.type.endswith(".closed")
        return [
            Delivery(
                device_id=device.id,
                blob=seal(self._shared_key(device.public_key), plaintext),
                expires_at=expires_at,
                urgency=urgency,
                topic=topic,
                is_essential=is_essential,
                question_id=question_id,
                push_until=push_until,
            )
            for device in devices
        ]


def make_envelope(kind: EnvelopeType, envelope_id: str, now: float, payload: msgspec.Struct, **source: str) -> Envelope:
    """Return an envelope from this server; `source` says on whose behalf, for example `token="CI"`."""
    return Envelope(kind, envelope_id, int(now), dict(source), msgspec.to_builtins(payload))


def source_of(token: Token) -> dict[str, str]:
    """Return what an envelope says of the token it comes from: its name, its id and its colour."""
    return {"token": token.label, "token_id": token.id, "colour": token.colour}


def queue_expiry(now: float) -> int:
    """Return when an entry that may wait as long as possible expires, in Unix seconds."""
    return int(now) + QUEUE_TTL_MAX_SECONDS
