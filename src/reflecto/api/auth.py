"""Who is calling. Source: api.md "Identities", "Errors"."""

from collections.abc import Awaitable
from typing import Final, TypeVar

import msgspec

from reflecto.api.http import Call
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_CODE, INVALID_TOKEN, MISSING_TOKEN, NOT_FOUND
from reflecto.contract.ids import SHORT_TOKEN_PATTERN
from reflecto.core.devices import Devices
from reflecto.core.events import CODE_REFUSED, TOKEN_REFUSED, Refusals
from reflecto.core.model import Device
from reflecto.core.quotas import Quotas
from reflecto.core.sender import Sender
from reflecto.core.tokens import Tokens

R = TypeVar("R")

DEVICE_TOKEN_PREFIX: Final = "rfd_"
_QUERY_NAMES: Final = ("token", "auth")  # Gotify's and ntfy's


def bearer_of(call: Call) -> str:
    """Return the bearer token as it came, from the path (`/v1/send/{token}`) or the header.

    Raises: ApiError `missing_token`.
    """
    if in_path := call.path_params.get("token"):
        return in_path
    scheme, _, token = (call.header(b"authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise ApiError(MISSING_TOKEN, MISSING_TOKEN.message + _put_elsewhere(call))
    return token


def _put_elsewhere(call: Call) -> str:
    """Return what to add for a caller that shows its token where other products take it; nothing of it is repeated."""
    if call.header(b"x-gotify-key"):
        place = "in X-Gotify-Key"
    elif scheme := (call.header(b"authorization") or "").split(None, 1)[:1]:
        place = {"basic": "in Basic auth", "bearer": ""}.get(scheme[0].lower(), "without the word Bearer")
    else:
        place = next((f"in the query, as ?{name}=" for name in _QUERY_NAMES if call.query(name)), "")
    return f"; a token is not taken {place}. Where only a URL can be set: POST /v1/send/rfk_live_…" if place else ""


def is_device_token(call: Call) -> bool:
    """Tell by its form whether the bearer token is a device's, where senders may call too.

    Raises: ApiError `missing_token`.
    """
    return bearer_of(call).startswith(DEVICE_TOKEN_PREFIX)


class Authenticator(msgspec.Struct, frozen=True):
    """Turns bearer tokens into senders and devices.

    Each method raises ApiError `missing_token`, `invalid_token`, or for an address with too many wrong ones
    `rate_limit_exceeded`; a right token always passes.
    """

    tokens: Tokens
    devices: Devices
    quotas: Quotas
    refusals: Refusals

    async def sender(self, call: Call) -> Sender:
        """Return the sender; a device token is not one."""
        return await self.sender_with(call, bearer_of(call))

    async def sender_with(self, call: Call, bearer: str) -> Sender:
        """Return the sender of a token that came in the body."""
        return await self.counting_wrong_tokens(call, self.tokens.authenticate(bearer))

    async def pushover_sender(self, call: Call, bearer: str) -> Sender:
        """Return the sender of a token, or of its short form, that came in one of Pushover's calls."""
        if SHORT_TOKEN_PATTERN.fullmatch(bearer) is None:
            return await self.sender_with(call, bearer)
        return await self.counting_wrong_tokens(call, self.tokens.authenticate_short(bearer))

    async def device(self, call: Call) -> Device:
        """Return the device; a sender token is not one."""
        return await self.counting_wrong_tokens(call, self.devices.authenticate(bearer_of(call)))

    async def counting_wrong_tokens(self, call: Call, work: Awaitable[R]) -> R:
        """Return what `work` does; count its `invalid_token` against the caller's address, and tell the log."""
        try:
            return await work
        except ApiError as error:
            if error.spec is INVALID_TOKEN:
                self.refusals.tell(TOKEN_REFUSED, call.client_address)
                await self.quotas.count_wrong_token(call.client_address)
            raise

    async def telling_wrong_codes(self, call: Call, work: Awaitable[R]) -> R:
        """Return what `work` does; tell the log of a setup code, or of a pairing's id, that turns out to be none."""
        try:
            return await work
        except ApiError as error:
            if error.spec in {INVALID_CODE, NOT_FOUND}:
                self.refusals.tell(CODE_REFUSED, call.client_address)
            raise
