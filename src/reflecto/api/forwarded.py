"""A proxy in front that is not trusted: its clients are all one address to the server, so that is said."""

import ipaddress
import logging
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

UNTRUSTED_PROXY: Final = "reflecto.untrusted_proxy"  # in a request's scope, true where one forwarded it
_FORWARDED_FOR: Final = b"x-forwarded-for"

logger = logging.getLogger(__name__)


class ForwardedWatch:
    """Marks requests that say whom they are forwarded for and come from no trusted proxy; the first is logged."""

    def __init__(self, app: ASGIApp, trusted_proxies: Sequence[str]) -> None:
        self.app = app
        self._trusted = [ipaddress.ip_network(proxy, strict=False) for proxy in trusted_proxies]
        self._is_said = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Mark the request where it says whom it is forwarded for and comes from no trusted proxy, and pass it on."""
        if scope["type"] == "http" and _FORWARDED_FOR in dict(scope["headers"]):
            address = str((scope.get("client") or ("unknown",))[0])
            if not self._trusts(address):
                scope[UNTRUSTED_PROXY] = True
                self._say(address)
        await self.app(scope, receive, send)

    def _trusts(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self._trusted)

    def _say(self, address: str) -> None:
        if not self._is_said:
            self._is_said = True
            logger.warning(
                "%s sends X-Forwarded-For and is no trusted proxy: if it is yours, name it in trusted_proxies, or all "
                "who call through it without a valid token share its limits",
                address,
            )
