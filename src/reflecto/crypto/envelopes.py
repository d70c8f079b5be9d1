"""Wire blobs: `0x01 | nonce (24 bytes) | secretbox`, under a key both ends derive.

Source: devices.md "Keys and envelopes".
"""

from typing import Final

from nacl import bindings
from nacl.exceptions import CryptoError as NaclError

from reflecto.contract.limits import BLOB_MIN_BYTES
from reflecto.contract.secret_record import SecretRecord

VERSION: Final = 0x01
KEY_BYTES: Final = 32
NONCE_BYTES: Final = bindings.crypto_secretbox_NONCEBYTES


class BadBlobError(Exception):
    """The blob is of an unknown version, cut short, changed, or made under another key."""


class BadKeyError(Exception):
    """The public key is not one a shared key can be derived from."""


class BoxKeys(SecretRecord, frozen=True):
    """An X25519 key pair, 32 raw bytes each."""

    public: bytes
    secret: bytes

    @classmethod
    def generate(cls) -> "BoxKeys":
        """Make a fresh pair."""
        return cls(*bindings.crypto_box_keypair())

    @classmethod
    def from_secret(cls, secret: bytes) -> "BoxKeys":
        """Return the pair of a stored secret (32 bytes)."""
        return cls(bindings.crypto_scalarmult_base(secret), secret)


def shared_key(public: bytes, secret: bytes) -> bytes:
    """Return the 32-byte key of a pair of ends: X25519, then HSalsa20. The same from either side.

    Raises: BadKeyError for a point of low order, which would give the same key to everyone.
    """
    try:
        return bindings.crypto_box_beforenm(public, secret)
    except (NaclError, ValueError) as error:
        raise BadKeyError(str(error)) from None


def seal(key: bytes, plaintext: bytes) -> bytes:
    """Encrypt under a 32-byte key with a random nonce and return the wire blob."""
    nonce = bindings.randombytes(NONCE_BYTES)
    return bytes((VERSION,)) + nonce + bindings.crypto_secretbox(plaintext, nonce, key)


def open_blob(key: bytes, blob: bytes) -> bytes:
    """Return the plaintext of a wire blob. Raises: BadBlobError."""
    if len(blob) < BLOB_MIN_BYTES or blob[0] != VERSION:
        raise BadBlobError("unknown version or cut short")
    try:
        return bindings.crypto_secretbox_open(blob[1 + NONCE_BYTES :], blob[1 : 1 + NONCE_BYTES], key)
    except NaclError:
        raise BadBlobError("changed, or made under another key") from None
