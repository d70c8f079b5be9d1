"""Web Push: a message encrypted for one subscription, and the key pair a server is known by.

Source: RFC 8291, RFC 8188 (one record, aes128gcm), RFC 8292 (VAPID).
"""

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from reflecto.crypto.encoding import encode_base64url

POINT_BYTES: Final = 65  # a P-256 public key, uncompressed
AUTH_SECRET_BYTES: Final = 16
BODY_MAX_BYTES: Final = 4096  # what every push service takes (RFC 8030 7.2); also the size of the one record
SALT_BYTES: Final = 16
VAPID_SECRET_BYTES: Final = 32
_HEADER_BYTES: Final = SALT_BYTES + 4 + 1 + POINT_BYTES
_DELIMITER: Final = b"\x02"  # RFC 8188 2: ends the last record
_TAG_BYTES: Final = 16
PLAINTEXT_MAX_BYTES: Final = BODY_MAX_BYTES - _HEADER_BYTES - len(_DELIMITER) - _TAG_BYTES  # 3993


@dataclass(frozen=True)
class VapidKeys:
    """The key pair; subscriptions are bound to its public half."""

    secret: bytes = field(repr=False)  # 32 bytes, the private scalar

    @classmethod
    def generate(cls) -> "VapidKeys":
        """Make a fresh pair."""
        number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        return cls(number.to_bytes(VAPID_SECRET_BYTES, "big"))

    @cached_property
    def private_key(self) -> ec.EllipticCurvePrivateKey:
        """The key to sign with. Raises: ValueError if the secret is not one of the curve."""
        return ec.derive_private_key(int.from_bytes(self.secret, "big"), ec.SECP256R1())

    @cached_property
    def public(self) -> str:
        """The public key in base64url, as `applicationServerKey` and the `k` of the header take it."""
        return encode_base64url(point_of(self.private_key.public_key()))


def encrypt(
    plaintext: bytes,
    receiver_key: bytes,
    auth_secret: bytes,
    *,
    salt: bytes | None = None,
    sender_key: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """Return the body of a push message, at most 4096 bytes.

    `receiver_key` (65 bytes) and `auth_secret` (16 bytes) are the subscription's. Salt and sender key are made fresh
    for each message; only tests of the RFC's example give them.

    Raises: ValueError for a plaintext of over 3993 bytes or a key that is no point of the curve.
    """
    if len(plaintext) > PLAINTEXT_MAX_BYTES:
        raise ValueError("the message does not fit one record")
    salt = salt or os.urandom(SALT_BYTES)
    sender_key = sender_key or ec.generate_private_key(ec.SECP256R1())
    sender_point = point_of(sender_key.public_key())
    shared = sender_key.exchange(ec.ECDH(), _key_of(receiver_key))
    secret = _hkdf(shared, auth_secret, b"WebPush: info\x00" + receiver_key + sender_point, 32)
    key = _hkdf(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _hkdf(secret, salt, b"Content-Encoding: nonce\x00", 12)  # of record 0, the only one
    header = salt + BODY_MAX_BYTES.to_bytes(4, "big") + bytes((POINT_BYTES,)) + sender_point
    return header + AESGCM(key).encrypt(nonce, plaintext + _DELIMITER, None)


def is_point(raw: bytes) -> bool:
    """Tell whether these bytes are an uncompressed point of P-256, as a subscription's `p256dh` must be."""
    try:
        _key_of(raw)
    except ValueError:
        return False
    return True


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    """Return a P-256 public key as 65 bytes, uncompressed."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _key_of(raw: bytes) -> ec.EllipticCurvePublicKey:
    if len(raw) != POINT_BYTES:
        raise ValueError("not an uncompressed point")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw)


def _hkdf(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(key)
