"""Who may push next: slots that no owner and no push service can use up alone.

A send that hangs holds its slot for 15 seconds. So nobody gets a fixed share: an owner may have as many sends under way
as there are slots free, and a push service three times as many. One owner alone gets half of the slots; however many
hang, some stay free for the next owner, and without a crowd nobody waits.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

SERVICE_SHARE: Final = 3  # sends to one push service for each free slot: most owners' phones use the same few


class _Waiting(NamedTuple):
    service: str
    granted: asyncio.Future[None]


class FairSlots:
    """Slots for `count` sends at once. Every method is called on the event loop.

    What waits is bounded by the devices: one push of each is under way at a time, the rest stays in its queue.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._by_owner: Counter[str] = Counter()  # sends under way
        self._by_service: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiting]] = {}  # by owner; the one served longest ago comes first

    @asynccontextmanager
    async def take(self, owner_id: str, service: str) -> AsyncIterator[None]:
        """Hold a slot while the block runs. `service` is the push service's origin."""
        waiting = _Waiting(service, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(owner_id, deque()).append(waiting)
        self._grant()
        try:
            await waiting.granted
            yield
        finally:
            if waiting.granted.done() and not waiting.granted.cancelled():
                self._give_back(owner_id, service)
            else:
                self._withdraw(owner_id, waiting)

    def _grant(self) -> None:
        while (found := next(self._admissible(), None)) is not None:
            owner_id, waiting = found
            self._withdraw(owner_id, waiting)
            if owner_id in self._waiting:
                self._waiting[owner_id] = self._waiting.pop(owner_id)  # behind all others now
            self._free -= 1
            self._by_owner[owner_id] += 1
            self._by_service[waiting.service] += 1
            waiting.granted.set_result(None)

    def _admissible(self) -> Iterator[tuple[str, _Waiting]]:
        for owner_id, line in self._waiting.items():
            if self._by_owner[owner_id] < self._free:
                for waiting in line:
                    if self._by_service[waiting.service] < SERVICE_SHARE * self._free and not waiting.granted.done():
                        yield owner_id, waiting

    def _withdraw(self, owner_id: str, waiting: _Waiting) -> None:
        line = self._waiting[owner_id]
        line.remove(waiting)
        if not line:
            del self._waiting[owner_id]

    def _give_back(self, owner_id: str, service: str) -> None:
        self._free += 1
        for counter, name in ((self._by_owner, owner_id), (self._by_service, service)):
            counter[name] -= 1
            if not counter[name]:
                del counter[name]
        self._grant()
