"""What proves an answer, and whose signature is taken for it. No I/O. Source: protocol.md "Answering"."""

from collections.abc import Collection

from reflecto.client.errors import InvalidReceipt, InvalidSettings
from reflecto.client.results import Answer, Receipt
from reflecto.crypto.answers import SIGNING_KEY_BYTES
from reflecto.crypto.encoding import decode_base64


def verify(receipt: Receipt | None, signing_key: str | None = None) -> None:
    """Check that a phone signed this answer to this question; an unsigned answer has None as its receipt.

    With `signing_key` (Ed25519, base64) it must have been that phone. See `Receipt.verify` for what each proves.

    Raises: InvalidReceipt.
    """
    if receipt is None:
        raise InvalidReceipt("the answer is not signed")
    receipt.verify(signing_key)


def read_pins(signing_keys: Collection[str] | None) -> frozenset[str] | None:
    """Return the keys that a client was given. Raises: InvalidSettings, TypeError for one text."""
    if signing_keys is None:
        return None
    if isinstance(signing_keys, str):
        raise TypeError("signing_keys must be a collection of keys, not one text")
    if not signing_keys or any(decode_base64(key, length=SIGNING_KEY_BYTES) is None for key in signing_keys):
        raise InvalidSettings("signing_keys must be Ed25519 public keys in base64, at least one")
    return frozenset(signing_keys)


def check_pinned(answer: Answer, pins: frozenset[str] | None) -> Answer:
    """Return the answer if one of the pinned keys signed it, or if none are pinned. Raises: InvalidReceipt."""
    if pins is not None:
        if answer.receipt is None:
            raise InvalidReceipt("the answer is not signed, and the client was told whose signature to expect")
        if answer.receipt.signing_key not in pins:
            raise InvalidReceipt("the answer was signed with another key than the expected ones")
    return answer
