"""The gates in front of a sender's calls. Source: api.md "Limits"."""

from collections.abc import Awaitable
from typing import TypeVar

import msgspec

from reflecto.api.auth import Authenticator
from reflecto.api.errors import reply_parts, standing_headers
from reflecto.api.http import Call, Reply
from reflecto.contract.api_error import ApiError
from reflecto.core.quotas import Quotas, RateLimitedError
from reflecto.core.sender import Sender

R = TypeVar("R")


class Gate(msgspec.Struct, frozen=True):
    """First the token, or where there is no valid one the address; the use case checks the body and spends the rest."""

    auth: Authenticator
    quotas: Quotas

    async def counting_strangers(self, call: Call, identifying: Awaitable[R]) -> R:
        """Return what `identifying` finds of the caller; count a call where it fails against its address.

        Calls with a valid token do not count there: whoever shares their address would shut them out.
        """
        try:
            return await identifying
        except ApiError as error:
            if error.spec.status != 429:
                await self.quotas.count_stranger(call.client_address)
            raise

    async def run(self, sender: Sender, answering: Awaitable[Reply | None]) -> Reply | None:
        """Return what `answering` replies to a sender that has passed both gates; None: it has sent it by itself."""
        try:
            reply = await answering
        except RateLimitedError:
            raise  # carries the layer that refused
        except ApiError as error:
            if error.spec.status != 429:
                raise
            reply = Reply(*reply_parts(error))
        standing = await self.quotas.tightest(sender.token)
        if reply is None or standing is None:
            return reply
        return msgspec.structs.replace(reply, headers={**reply.headers, **standing_headers(standing)})
