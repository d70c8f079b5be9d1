"""Whether the server can store anything."""

import asyncio
from collections.abc import Sequence
from typing import Final

from reflecto.core.clock import Clock
from reflecto.core.ports.store import Store, StoreUnavailableError

PROBE_SECONDS: Final = 1  # anybody may ask, and each probe waits for the disk


class Readiness:
    """Whether something new can be stored, found out at most once a second for everybody who asks."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._probing = asyncio.Lock()
        self._known_until = 0.0
        self._trouble: StoreUnavailableError | None = None
        self._concerns: Sequence[str] = ()

    async def check(self) -> Sequence[str]:
        """Return if the store took a probe within the last second, or takes one now. Raises: StoreUnavailableError.

        Returned is what of the store's settings may lose what it accepts, as codes of `contract.store_concerns`.
        """
        async with self._probing:
            if self._clock.now() >= self._known_until:
                self._trouble = None
                try:
                    self._concerns = await self._store.probe()
                except StoreUnavailableError as error:
                    self._trouble = error
                self._known_until = self._clock.now() + PROBE_SECONDS
            if self._trouble is not None:
                raise StoreUnavailableError(str(self._trouble))
            return self._concerns
