"""Keys and signatures on the wire: raw bytes in standard base64; what comes from a browser's API in base64url."""

import base64
import binascii


def encode_base64(raw: bytes) -> str:
    """Return standard base64 with padding."""
    return base64.b64encode(raw).decode("ascii")


def decode_base64(text: str, *, length: int) -> bytes | None:
    """Return the bytes, or None unless `text` is canonical standard base64 of exactly `length` bytes."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length and encode_base64(raw) == text else None


def encode_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def decode_base64url(text: str, *, length: int) -> bytes | None:
    """Return the bytes, or None unless `text` is base64url of exactly `length` bytes, with or without padding."""
    stripped = text.rstrip("=")
    try:
        raw = base64.b64decode(stripped + "=" * (-len(stripped) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length and encode_base64url(raw) == stripped else None
