"""The keys that make a server itself to phones and to push services, and the one text that carries both."""

import hashlib
from dataclasses import dataclass
from typing import Final

from reflecto.contract.ids import SERVER_KEYS_PATTERN
from reflecto.crypto.encoding import decode_base64url, encode_base64url
from reflecto.crypto.envelopes import KEY_BYTES, BoxKeys
from reflecto.crypto.webpush import VAPID_SECRET_BYTES, VapidKeys

_PREFIX: Final = "rfkeys_"
_SECRETS_BYTES: Final = KEY_BYTES + VAPID_SECRET_BYTES
_CHECK_BYTES: Final = 4  # of a SHA-256: a text that was cut or mistyped is told from another server's


class BadServerKeysError(ValueError):
    """The text is no server's keys, or not all of it."""


@dataclass(frozen=True, slots=True)
class ServerKeys:
    """`box`: what phones trust; `push`: what subscriptions for Web Push are bound to (VAPID)."""

    box: BoxKeys
    push: VapidKeys

    @classmethod
    def generate(cls) -> "ServerKeys":
        """Make fresh ones, of a server that no phone knows yet."""
        return cls(BoxKeys.generate(), VapidKeys.generate())

    @classmethod
    def from_text(cls, text: str) -> "ServerKeys":
        """Return the keys of `to_text`. Raises: BadServerKeysError, which does not repeat the text."""
        text = text.strip()
        if not SERVER_KEYS_PATTERN.fullmatch(text):
            raise BadServerKeysError("a server's keys are rfkeys_ and 91 letters, digits, - or _")
        packed = decode_base64url(text.removeprefix(_PREFIX), length=_SECRETS_BYTES + _CHECK_BYTES)
        if packed is None or packed[_SECRETS_BYTES:] != _check(packed[:_SECRETS_BYTES]):
            raise BadServerKeysError("a character of the server's keys is wrong")
        return cls(BoxKeys.from_secret(packed[:KEY_BYTES]), VapidKeys(packed[KEY_BYTES:_SECRETS_BYTES]))

    def to_text(self) -> str:
        """Return both secrets as one text, `rfkeys_…`, for an environment variable. Whoever has it is the server."""
        secrets = self.box.secret + self.push.secret
        return _PREFIX + encode_base64url(secrets + _check(secrets))


def _check(secrets: bytes) -> bytes:
    return hashlib.sha256(secrets).digest()[:_CHECK_BYTES]
