"""Which push comes next: pure decisions on what a queue holds. Source: devices.md "Push"."""

from collections.abc import Sequence
from typing import Final

import msgspec

from reflecto.core.model import QueueEntry, Urgency
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.webpush import PLAINTEXT_MAX_BYTES
from reflecto.push.sender import PushMessage

BURST_ENTRIES: Final = 8  # more than these at once become one wake-up
WAKE_TOPIC: Final = "wake"  # of pushes that carry nothing: one is enough


class _Plaintext(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is inside a push. Without `blob` the device fetches what its queue holds."""

    seq: int
    blob: str | None = None


class Push(msgspec.Struct, frozen=True):
    """A push up to the entry `seq`; `blob` is None for a wake-up."""

    seq: int
    blob: bytes | None
    expires_at: int
    urgency: Urgency
    topic: str | None

    def message_at(self, now: float) -> PushMessage:
        """Return what to send at this instant."""
        plaintext = msgspec.json.encode(_Plaintext(self.seq, encode_base64(self.blob) if self.blob else None))
        if len(plaintext) > PLAINTEXT_MAX_BYTES:
            plaintext = msgspec.json.encode(_Plaintext(self.seq))
        return PushMessage(plaintext, max(0, self.expires_at - int(now)), self.urgency, self.topic)


def next_push(entries: Sequence[QueueEntry], upto_seq: int, *, as_one: bool = False, bare_seq: int = 0) -> Push | None:
    """Return the next push for these unacknowledged entries, in order; None where nothing is left to push.

    A few are pushed one by one, without those that a later one of the same topic replaces. Many, or any `as_one`,
    become one wake-up for everything up to `upto_seq`. The entry `bare_seq` is pushed without its blob.
    """
    if not entries:
        return None
    if as_one or len(entries) > BURST_ENTRIES:
        return _wake_up(entries, upto_seq)
    later_topics = {entry.topic for entry in entries[1:] if entry.topic}
    first = entries[0]
    if first.topic in later_topics:
        return next_push(entries[1:], upto_seq, bare_seq=bare_seq)
    blob = None if first.seq == bare_seq else first.blob
    return Push(first.seq, blob, first.push_expires_at, first.urgency, first.topic)


def _wake_up(entries: Sequence[QueueEntry], upto_seq: int) -> Push:
    urgent = any(entry.urgency == "high" for entry in entries)
    expires_at = max(entry.push_expires_at for entry in entries)
    return Push(upto_seq, None, expires_at, "high" if urgent else "low", WAKE_TOPIC)
