"""Web Push: a message encrypted for one subscription, and the key pair a server is known by.

Source: RFC 8291, RFC 8188 (one record, aes128gcm), RFC 8292 (VAPID). The encryption is http-ece's.
"""

from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from reflecto.contract.secret_record import SecretRecord
from reflecto.crypto.encoding import encode_base64url

POINT_BYTES: Final = 65  # a P-256 public key, uncompressed
AUTH_SECRET_BYTES: Final = 16
BODY_MAX_BYTES: Final = 4096  # what every push service takes (RFC 8030 7.2); also the size of the one record
VAPID_SECRET_BYTES: Final = 32
PLAINTEXT_MAX_BYTES: Final = 3993  # RFC 8291 4: what is left of the record for it


class VapidKeys(SecretRecord, frozen=True, dict=True):
    """The key pair; subscriptions are bound to its public half."""

    secret: bytes  # 32 bytes, the private scalar

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

    Raises: ValueError for a plaintext that is empty or of over 3993 bytes, or a key that is no point of the curve.
    """
    import http_ece  # noqa: PLC0415  with the first push, not at every start

    if not 0 < len(plaintext) <= PLAINTEXT_MAX_BYTES:
        raise ValueError("the message does not fit one record")  # http-ece makes no record of nothing
    body: bytes = http_ece.encrypt(
        plaintext,
        salt=salt,
        private_key=sender_key or ec.generate_private_key(ec.SECP256R1()),
        dh=_key_of(receiver_key),
        auth_secret=auth_secret,
        version="aes128gcm",
        rs=BODY_MAX_BYTES,
    )
    return body


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
