"""Signed answers: what a phone signs when its owner taps, and how anyone checks it. Source: devices.md "Answering"."""

# ruff: noqa: PLC0415 -- a command that neither signs nor checks, such as `reflecto send`, loads no cryptography

import hashlib
from collections.abc import Sequence
from typing import Final

SIGNING_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


def question_digest(question: str, choices: Sequence[str]) -> str:
    """Return the hex SHA-256 of the canonical JSON (RFC 8785) of what was shown."""
    import rfc8785

    return hashlib.sha256(rfc8785.dumps({"choices": list(choices), "question": question})).hexdigest()


def answer_message(
    interaction_id: str, question: str, choices: Sequence[str], choice_index: int, answered_at: int
) -> bytes:
    """Return the bytes a phone signs. `answered_at` is the phone's clock in Unix seconds."""
    digest = question_digest(question, choices)
    return f"reflecto-answer-v1\n{interaction_id}\n{digest}\n{choice_index}\n{answered_at}".encode()


def sign_answer(seed: bytes, message: bytes) -> bytes:
    """Sign with the device's 32-byte Ed25519 seed; return the 64-byte signature."""
    from nacl.signing import SigningKey

    return SigningKey(seed).sign(message).signature


def verify_answer(signing_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether `signature` (64 bytes) over `message` was made with the device's key (32 bytes)."""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(signing_key).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


def is_signing_key(public: bytes) -> bool:
    """Tell whether these 32 bytes are a usable Ed25519 public key: on the curve and not of low order."""
    from nacl import bindings

    return bindings.crypto_core_ed25519_is_valid_point(public)
