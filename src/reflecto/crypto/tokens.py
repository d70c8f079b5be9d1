"""What the server derives from a plaintext bearer token while it has one. Source: api.md "Identities", devices.md.

Tokens carry 190 random bits, so a plain hash cannot be searched backwards and no slow hash is needed.
"""

import hashlib
import hmac
from typing import Final, Literal

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from reflecto.contract.secret_record import SecretRecord

HKDF_INFO: Final = b"reflecto interaction v1"


def token_hash(token: str) -> bytes:
    """Return the SHA-256 (32 bytes) under which a token or setup code is stored."""
    return hashlib.sha256(token.encode()).digest()


class TokenKeys(SecretRecord, frozen=True):
    """Two independent 32-byte keys: one seals a question at rest, one makes its idempotency marks."""

    sealing: bytes
    marking: bytes

    @classmethod
    def derive(cls, token: str) -> "TokenKeys":
        """Derive both from the plaintext token.

        HKDF's output is a stream: its first 32 bytes are the interaction key of the spec, the next 32 are ours.
        """
        stream = HKDF(algorithm=SHA256(), length=64, salt=None, info=HKDF_INFO).derive(token.encode())
        return cls(sealing=stream[:32], marking=stream[32:])

    def mark(self, kind: Literal["key", "content"], text: bytes) -> bytes:
        """Return a 32-byte mark that is equal for equal texts of a kind and tells nothing without the token.

        A plain hash in the store would let its reader test guesses such as "Deploy to production?".
        """
        return hmac.digest(self.marking, f"{kind}\n".encode() + text, "sha256")
