"""Signed answers: what a phone signs when its owner taps, and how anyone checks it. Source: devices.md "Answering"."""

# ruff: noqa: PLC0415 -- a command that neither signs nor checks, such as `reflecto send`, loads no cryptography

import hashlib
from collections.abc import Sequence
from typing import Any, Final

SIGNING_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
SERVER: Final = "server"


def question_digest(question: str, choices: Sequence[str], **given: Any) -> str:
    """Return the hex SHA-256 of the canonical JSON (RFC 8785) of what was shown.

    `given`: those of details, source, danger, confirm and comment that the request gave, as it gave them.
    """
    return _canonical_sha256({"choices": list(choices), "question": question, **given})


def comment_digest(text: str, salt: str) -> str:
    """Return the hex SHA-256 of the canonical JSON of a comment; `salt` as the phone sent it (base64url)."""
    return _canonical_sha256({"salt": salt, "text": text})


def answer_message(
    interaction_id: str, question: str, choices: Sequence[str], choice_index: int, answered_at: int
) -> bytes:
    """Return the bytes a phone signs. `answered_at` is the phone's clock in Unix seconds."""
    digest = question_digest(question, choices)
    return f"reflecto-answer-v1\n{interaction_id}\n{digest}\n{choice_index}\n{answered_at}".encode()


def answer_message_v2(
    interaction_id: str,
    digest: str,
    choice_index: int,
    answered_at: int,
    *,
    asker: str = SERVER,
    number: str | None = None,
    comment_sha256: str | None = None,
    roster: str | None = None,
) -> bytes:
    """Return the bytes a phone signs for a question with one of the fields of `question_digest`'s `given`.

    Args:
        interaction_id: The question.
        digest: The question's, in hex.
        choice_index: The choice, from 0.
        answered_at: The phone's clock in Unix seconds.
        asker: Who sealed the question: a device's id, or `server`.
        number: The two digits that were typed, if any.
        comment_sha256: The comment's digest in hex, if there is one.
        roster: `<version>.<sha256>` of the phone's roster, if it holds one.

    Source: end-to-end.md "Answers".
    """
    lines = (
        *("reflecto-answer-v2", interaction_id, asker, digest, str(choice_index), str(answered_at)),
        *(number or "-", comment_sha256 or "-", roster or "-"),
    )
    return "\n".join(lines).encode()


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


def _canonical_sha256(shown: Any) -> str:
    from reflecto.contract.canonical_json import canonical_json

    return hashlib.sha256(canonical_json(shown)).hexdigest()
