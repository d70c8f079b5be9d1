"""An address that tries too many wrong codes waits. Source: devices.md "Pairing further devices"."""

import math

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import RATE_LIMIT_EXCEEDED
from reflecto.contract.limits import WRONG_GUESSES_MAX, WRONG_GUESSES_WAIT_SECONDS
from reflecto.core.networks import network_of
from reflecto.core.ports.counting import Counters, Window


class FailedAttempts:
    """Counts failed attempts per network; `name` is the counter's, for example `wrong_setup_codes`."""

    def __init__(self, counters: Counters, name: str) -> None:
        self._counters = counters
        self._window = Window(name, WRONG_GUESSES_MAX, WRONG_GUESSES_WAIT_SECONDS, until_quiet=True)

    async def attempt(self, address: str, now: float) -> None:
        """Count an attempt before it is checked, so that simultaneous ones count too; `forgive` takes it back.

        Raises: ApiError `rate_limit_exceeded` while the address has to wait.
        """
        full = await self._counters.hit([(self._window, network_of(address))], now)
        if full is not None:
            wait_seconds = math.ceil(full.reset_at - now)
            raise ApiError(RATE_LIMIT_EXCEEDED, "Too many wrong codes; wait a minute", retry_after_seconds=wait_seconds)

    async def forgive(self, address: str) -> None:
        """An attempt of this address was right: forget its failed ones."""
        await self._counters.forget((self._window, network_of(address)))
