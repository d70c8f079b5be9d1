"""An address that tries too many wrong codes waits. Source: devices.md "Pairing further devices"."""

import math
from collections import OrderedDict
from typing import Final

from reflecto.contract.errors import RATE_LIMIT_EXCEEDED, ApiError
from reflecto.contract.limits import WRONG_GUESSES_MAX, WRONG_GUESSES_WAIT_SECONDS
from reflecto.core.networks import network_of

ADDRESSES_REMEMBERED: Final = 10_000  # the longest quiet ones are forgotten first


class FailedAttempts:
    """Counts failed attempts per network, in memory."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # network to (count, time of the last)

    def attempt(self, address: str, now: float) -> None:
        """Count an attempt before it is checked, so that simultaneous ones count too; `forgive` takes it back.

        Raises: ApiError `rate_limit_exceeded` while the address has to wait.
        """
        network = network_of(address)
        count, last = self._wrong.get(network, (0, now))
        if abs(now - last) >= WRONG_GUESSES_WAIT_SECONDS:  # the clock may have been put back
            count = 0
        if count >= WRONG_GUESSES_MAX:
            wait_seconds = math.ceil(last + WRONG_GUESSES_WAIT_SECONDS - now)
            raise ApiError(RATE_LIMIT_EXCEEDED, "Too many wrong codes; wait a minute", retry_after_seconds=wait_seconds)
        self._wrong[network] = (count + 1, now)
        self._wrong.move_to_end(network)
        if len(self._wrong) > ADDRESSES_REMEMBERED:
            self._wrong.popitem(last=False)

    def forgive(self, address: str) -> None:
        """An attempt of this address was right: forget its failed ones."""
        self._wrong.pop(network_of(address), None)
