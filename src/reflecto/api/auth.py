"""Who is calling. Source: api.md "Identities", "Errors"."""

from dataclasses import dataclass

from reflecto.api.http import Call
from reflecto.contract.errors import MISSING_TOKEN, ApiError
from reflecto.core.devices import Devices
from reflecto.core.model import Device
from reflecto.core.sender import Sender
from reflecto.core.tokens import Tokens

DEVICE_TOKEN_PREFIX = "rfd_"


def bearer_of(call: Call) -> str:
    """Return the bearer token as it came. Raises: ApiError `missing_token`."""
    scheme, _, token = (call.header(b"authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise ApiError(MISSING_TOKEN)
    return token


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Turns bearer tokens into senders and devices. Each method raises ApiError `missing_token`, `invalid_token`."""

    tokens: Tokens
    devices: Devices

    async def sender(self, call: Call) -> Sender:
        """Return the sender; a device token is not one."""
        return await self.tokens.authenticate(bearer_of(call))

    async def device(self, call: Call) -> Device:
        """Return the device; a sender token is not one."""
        return await self.devices.authenticate(bearer_of(call))

    async def owner_id(self, call: Call) -> str:
        """Return the owner behind a token of either kind."""
        if bearer_of(call).startswith(DEVICE_TOKEN_PREFIX):
            return (await self.device(call)).owner_id
        return (await self.sender(call)).token.owner_id
