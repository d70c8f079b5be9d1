"""Pictures that go with a message. Source: api.md "POST /v1/messages.json"."""

import base64
import binascii
from typing import Final

from reflecto.contract.envelopes import ImagePayload
from reflecto.contract.limits import IMAGE_MAX_BYTES
from reflecto.crypto.encoding import encode_base64

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"


def image_of(content: bytes) -> ImagePayload | None:
    """Return the picture, or None if it is too large or of another kind.

    Its first bytes say what it is, not its sender: some call every file `application/octet-stream`.
    """
    media_type = _media_type_of(content)
    if media_type is None or len(content) > IMAGE_MAX_BYTES:
        return None
    return ImagePayload(media_type, encode_base64(content))


def image_of_base64(text: str) -> ImagePayload | None:
    """Return the picture in this base64, in either alphabet, with or without padding; None as above."""
    spaced = text.rpartition("base64,")[2].strip().replace(" ", "+")  # what a form makes of a + that was not encoded
    compact = "".join(spaced.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return image_of(base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True))
    except (binascii.Error, ValueError):  # not base64, or not ASCII
        return None


def _media_type_of(content: bytes) -> str | None:
    if content.startswith(_PNG):
        return "image/png"
    if content.startswith(_JPEG):
        return "image/jpeg"
    if content[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return None
