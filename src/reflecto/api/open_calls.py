"""Which calls of an agent's tools wait for a tap right now. Source: hooks.md."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from reflecto.core.ports.call_places import CallPlaces
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.sender import Sender


class Place(msgspec.Struct):
    """One call of a tool that waits, and its number among those that look the same; without a mark it is alone."""

    places: CallPlaces
    token_id: str
    call_mark: bytes | None
    number: int = 0

    async def put_question(self, question_id: str) -> None:
        """Note what the call asks now. Raises: StoreUnavailableError."""
        if self.call_mark is not None:
            await self.places.put_question(self.token_id, self.call_mark, self.number, question_id)


class OpenCalls:
    """The calls of tools that wait right now. Two that look the same at the same time are two questions."""

    def __init__(self, places: CallPlaces) -> None:
        self._places = places

    @asynccontextmanager
    async def claim(self, sender: Sender, call_id: str | None) -> AsyncIterator[Place]:
        """Give a call the lowest free number among those that look the same, while the block runs.

        Raises: StoreUnavailableError.
        """
        place = Place(self._places, sender.token.id, _mark(sender, call_id))
        if place.call_mark is None:
            yield place
            return
        place.number = await self._places.take(place.token_id, place.call_mark)
        try:
            yield place
        finally:
            with suppress(StoreUnavailableError):  # such a place ends with this process
                giving = asyncio.create_task(self._places.give_back(place.token_id, place.call_mark, place.number))
                await asyncio.shield(giving)

    async def first_question(self, sender: Sender, call_id: str) -> str | None:
        """Return what the longest waiting of the calls with this id asks. Raises: StoreUnavailableError."""
        mark = _mark(sender, call_id)
        return None if mark is None else await self._places.first_question(sender.token.id, mark)


def _mark(sender: Sender, call_id: str | None) -> bytes | None:
    return None if call_id is None else sender.keys.mark("content", call_id.encode())
