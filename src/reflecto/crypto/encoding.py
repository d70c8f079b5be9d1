"""Keys and signatures on the wire: raw bytes in standard base64."""

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
