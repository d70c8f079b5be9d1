"""What the server draws for a question from its secrets: the number to be typed, and who can read a comment.

Source: consent.md "Number matching", "A word with the tap".
"""

from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl import bindings
from nacl.exceptions import CryptoError as NaclError

from reflecto.crypto.envelopes import BadBlobError, BoxKeys

COMMENT_INFO: Final = b"reflecto comment v1\n"
NUMBER_INFO: Final = b"reflecto number v1\n"


def confirm_number(server_secret: bytes, interaction_id: str) -> str:
    """Return the two digits to be typed for a question: always the same, and not to be had from the store.

    The server's X25519 secret (32 bytes) is in no store, no token and no device.
    """
    drawn = HKDF(algorithm=SHA256(), length=8, salt=None, info=NUMBER_INFO + interaction_id.encode())
    return f"{int.from_bytes(drawn.derive(server_secret), 'big') % 100:02d}"


def comment_keys(token: str, interaction_id: str) -> BoxKeys:
    """Return the keys that the comment of a question is sealed to, drawn from its asker's plaintext token."""
    drawn = HKDF(algorithm=SHA256(), length=32, salt=None, info=COMMENT_INFO + interaction_id.encode())
    return BoxKeys.from_secret(drawn.derive(token.encode()))


def seal_comment(public: bytes, comment: bytes) -> bytes:
    """Return the comment as a sealed box of libsodium, which only the secret half of `public` opens."""
    return bindings.crypto_box_seal(comment, public)


def open_comment(keys: BoxKeys, sealed: bytes) -> bytes:
    """Return the comment. Raises: BadBlobError."""
    try:
        return bindings.crypto_box_seal_open(sealed, keys.public, keys.secret)
    except NaclError:
        raise BadBlobError("changed, or sealed to another key") from None
