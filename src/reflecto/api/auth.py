"""Who is calling. Source: api.md "Identities", "Errors"."""

from dataclasses import dataclass
from typing import Final

from reflecto.api.http import Call
from reflecto.contract.errors import INVALID_TOKEN, MISSING_TOKEN, ApiError
from reflecto.core.devices import Devices
from reflecto.core.model import Device
from reflecto.core.quotas import Quotas
from reflecto.core.sender import Sender
from reflecto.core.tokens import Tokens

DEVICE_TOKEN_PREFIX: Final = "rfd_"


def bearer_of(call: Call) -> str:
    """Return the bearer token as it came, from the path (`/v1/send/{token}`) or the header.

    Raises: ApiError `missing_token`.
    """
    if in_path := call.path_params.get("token"):
        return in_path
    scheme, _, token = (call.header(b"authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise ApiError(MISSING_TOKEN)
    return token


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Turns bearer tokens into senders and devices.

    Each method raises ApiError `missing_token`, `invalid_token`, or for an address with too many wrong ones
    `rate_limit_exceeded`; a right token always passes.
    """

    tokens: Tokens
    devices: Devices
    quotas: Quotas

    async def sender(self, call: Call) -> Sender:
        """Return the sender; a device token is not one."""
        return await self.sender_with(call, bearer_of(call))

    async def sender_with(self, call: Call, bearer: str) -> Sender:
        """Return the sender of a token that came in the body."""
        try:
            return await self.tokens.authenticate(bearer)
        except ApiError as error:
            self._count_wrong(call, error)
            raise

    async def device(self, call: Call) -> Device:
        """Return the device; a sender token is not one."""
        try:
            return await self.devices.authenticate(bearer_of(call))
        except ApiError as error:
            self._count_wrong(call, error)
            raise

    async def owner_id(self, call: Call) -> str:
        """Return the owner behind a token of either kind."""
        if bearer_of(call).startswith(DEVICE_TOKEN_PREFIX):
            return (await self.device(call)).owner_id
        return (await self.sender(call)).token.owner_id

    def _count_wrong(self, call: Call, error: ApiError) -> None:
        if error.spec is INVALID_TOKEN:
            self.quotas.count_wrong_token(call.client_address)
