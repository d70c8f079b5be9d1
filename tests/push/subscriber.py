"""The browser's half of a subscription: it decrypts RFC 8291 and checks VAPID by its own means.

Written from the RFCs on primitives alone, so that an error of the server's is not repeated here.
"""

import base64
import hashlib
import hmac
import json
import os
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()


def to_base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def hkdf(salt: bytes, key: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869 for outputs of one block."""
    extracted = hmac.digest(salt, key, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)[:length]


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscription at `endpoint`."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    auth: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def state(self, **fields: Any) -> dict[str, Any]:
        """What a browser's `toJSON()` gives."""
        keys = {"p256dh": to_base64url(self.point), "auth": to_base64url(self.auth)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys} | fields

    def decrypt(self, body: bytes) -> bytes:
        """Return what a push carries; its body must be one aes128gcm record."""
        salt, record_bytes, point_bytes = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender_point, record = body[21 : 21 + point_bytes], body[21 + point_bytes :]
        assert point_bytes == 65
        assert 17 <= len(record) <= record_bytes
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender_point))
        secret = hkdf(self.auth, shared, b"WebPush: info\0" + self.point + sender_point, 32)
        content_key = hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
        padded = AESGCM(content_key).decrypt(nonce, record, None)
        plaintext, delimiter, padding = padded.rpartition(b"\x02")
        assert delimiter
        assert not padding.strip(b"\0")
        return plaintext


def check_vapid(authorization: str) -> tuple[dict[str, Any], str]:
    """Return the claims of a `vapid` header and the key it was signed with; the signature must be right."""
    scheme, _, rest = authorization.partition(" ")
    assert scheme == "vapid"
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    header, claims, signature = fields["t"].split(".")
    raw = from_base64url(signature)
    assert json.loads(from_base64url(header))["alg"] == "ES256"
    assert len(raw) == 64
    der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, from_base64url(fields["k"]))
    key.verify(der, f"{header}.{claims}".encode(), ec.ECDSA(SHA256()))
    return json.loads(from_base64url(claims)), fields["k"]
