"""Who this server is to push services: tokens signed with its P-256 key. Source: RFC 8292 (VAPID)."""

from collections import OrderedDict
from typing import Final
from urllib.parse import urlsplit

from reflecto.crypto.webpush import VapidKeys

TOKEN_SECONDS: Final = 12 * 3_600  # RFC 8292 2: at most 24 h ahead
RENEW_SECONDS: Final = 3_600  # before it expires: push services' clocks differ
ORIGINS_REMEMBERED: Final = 1_000  # the longest unused are forgotten first
LOCAL_CONTACT: Final = "mailto:reflecto@localhost"  # Apple refuses it, and is out of reach without a public https URL


class Vapid:
    """Makes the `Authorization` header, one signed token per push service and half a day."""

    def __init__(self, keys: VapidKeys, contact: str) -> None:
        self._keys = keys
        self._contact = contact
        self._tokens: OrderedDict[str, tuple[str, int]] = OrderedDict()  # origin to (token, when it expires)

    def authorization(self, endpoint: str, now: float) -> str:
        """Return the header's value for a push to `endpoint`."""
        import jwt  # noqa: PLC0415  a server starts sooner without, and may never push

        origin = origin_of(endpoint)
        token, expires_at = self._tokens.get(origin, ("", 0))
        if expires_at - now < RENEW_SECONDS:
            expires_at = int(now) + TOKEN_SECONDS
            # In the order of the names: Chrome's push service is said to want it so.
            claims = {"aud": origin, "exp": expires_at, "sub": self._contact}
            token = jwt.encode(claims, self._keys.private_key, algorithm="ES256")
            self._tokens[origin] = (token, expires_at)
            if len(self._tokens) > ORIGINS_REMEMBERED:
                self._tokens.popitem(last=False)
        self._tokens.move_to_end(origin)
        return f"vapid t={token}, k={self._keys.public}"


def origin_of(endpoint: str) -> str:
    """Return scheme, host and port of a URL: all of an endpoint that may be logged."""
    parts = urlsplit(endpoint)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    default_port = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in {None, default_port} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def contact_for(public_url: str | None) -> str:
    """Return whom push services may write to where no `push_contact` is set: the server's own public address."""
    if public_url is None or urlsplit(public_url).scheme != "https":
        return LOCAL_CONTACT
    return origin_of(public_url)
