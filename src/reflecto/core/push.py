"""What a push is told of the message it carries, and which subscriptions are taken. Source: devices.md "Push"."""

import ipaddress
from urllib.parse import urlsplit

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import PushState
from reflecto.contract.envelopes import Envelope
from reflecto.contract.errors import INVALID_PUSH
from reflecto.contract.links import read_web_link
from reflecto.core.model import PushSubscription, Urgency
from reflecto.core.public_addresses import is_public
from reflecto.crypto.encoding import decode_base64url
from reflecto.crypto.webpush import AUTH_SECRET_BYTES, POINT_BYTES, is_point


def urgency_of(envelope: Envelope) -> Urgency:
    """Return `low` for a notification of priority min or low and for what only changes a list, else `high`."""
    is_low = envelope.payload.get("priority") in {"min", "low"} or envelope.type == "token.changed"
    return "low" if is_low else "high"


def topic_of(envelope: Envelope) -> str | None:
    """Return the 32 hex digits of the id for what has an end, and for that end, so that the end replaces it."""
    has_end = envelope.type.removesuffix(".closed") in {"interaction", "emergency"}
    return envelope.id.partition("_")[2] if has_end else None


def check_subscription(state: PushState, *, allow_private: bool) -> PushSubscription:
    """Return the subscription. Whether its host is public is decided when it is connected to.

    Raises: ApiError `invalid_push` unless the endpoint is an https URL without credentials or fragment (http on this
    machine's loopback too with `allow_private`) and both keys are ones that can be encrypted for.
    """
    p256dh = decode_base64url(state.keys.p256dh, length=POINT_BYTES)
    auth = decode_base64url(state.keys.auth, length=AUTH_SECRET_BYTES)
    if p256dh is None or not is_point(p256dh) or auth is None:
        raise ApiError(INVALID_PUSH)
    if not is_callable_url(state.endpoint, allow_private=allow_private):
        raise ApiError(INVALID_PUSH)
    return PushSubscription(state.endpoint, p256dh, auth)


def is_callable_url(url: str, *, allow_private: bool) -> bool:
    """Tell whether this server may call the URL, as far as that can be seen from it: `check_subscription` says how."""
    if not url.isascii() or any(not 0x20 < ord(char) < 0x7F or char == "\\" for char in url):
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:  # a broken port or IPv6 address
        return False
    if not host or parts.username is not None or parts.password is not None or "#" in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and allow_private and _is_loopback(host))


def may_be_called_back(url: str, *, allow_private: bool) -> bool:
    """Tell whether an emergency's sender may be called back there: not at what is written as a private address.

    Where a name leads is decided when it is connected to.
    """
    return is_callable_url(url, allow_private=allow_private) and (allow_private or not _names_private_address(url))


def _names_private_address(url: str) -> bool:
    link = read_web_link(url)  # which reads 127.1 and 0x7f000001 as the addresses that they are
    host = (urlsplit(f"//{link.target}").hostname or "") if link else ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return f".{host}".endswith(".localhost")
    return not is_public(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
