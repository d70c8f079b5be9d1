"""What the store holds, for whoever watches it: added up now and then, however many ask."""

import asyncio
from typing import Final

from reflecto.api.metrics import Metric, gauge
from reflecto.core.clock import Clock
from reflecto.core.model import StoreLoad
from reflecto.core.ports.store import Store, StoreUnavailableError

MEASURE_SECONDS: Final = 30  # anybody may ask, and each time goes through the queues of all devices


class StoreLoadWatch:
    """The store's load, found out at most every half a minute for everybody who asks."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._measuring = asyncio.Lock()
        self._known_until = 0.0
        self._load: StoreLoad | None = None

    async def metrics(self) -> list[Metric]:
        """Return it; nothing while the store cannot be read."""
        async with self._measuring:
            if self._clock.now() >= self._known_until:
                try:
                    self._load = await self._store.measure_load(self._clock.now(), MEASURE_SECONDS)
                except StoreUnavailableError:
                    self._load = None
                self._known_until = self._clock.now() + MEASURE_SECONDS
        return [] if self._load is None else load_metrics(self._load)


def load_metrics(load: StoreLoad) -> list[Metric]:
    """Return the load as metrics."""
    return [
        gauge("reflecto_queue_entries", "What waits in the queues of all devices.", lambda: load.queue_entries),
        gauge("reflecto_queue_bytes", "The same, in bytes of ciphertext.", lambda: load.queue_bytes),
        gauge("reflecto_queue_entries_max", "What waits in the longest queue.", lambda: load.longest_queue),
        gauge("reflecto_queue_bytes_max", "Bytes in the largest queue.", lambda: load.largest_queue_bytes),
        gauge("reflecto_questions_pending", "Questions that wait for a tap.", lambda: load.pending_questions),
    ]
