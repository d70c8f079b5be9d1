"""Which calls of an agent's tools wait for a tap right now. Source: hooks.md."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import msgspec


class Place(msgspec.Struct):
    """One call of a tool that waits: its number among those that look the same, and what it asks now."""

    number: int
    question_id: str | None = None


class OpenCalls:
    """The calls of tools that wait here right now. Two that look the same at the same time are two questions."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[Place]] = {}

    @contextmanager
    def claim(self, token_id: str, call_id: str | None) -> Iterator[Place]:
        """Give a call the lowest free number among those that look the same, while the block runs."""
        if call_id is None:
            yield Place(0)
            return
        key = (token_id, call_id)
        places = self._places.setdefault(key, [])
        taken = {place.number for place in places}
        place = Place(next(number for number in count() if number not in taken))
        places.append(place)
        try:
            yield place
        finally:
            places.remove(place)
            if not places:
                del self._places[key]

    def first_question(self, token_id: str, call_id: str) -> str | None:
        """Return what the longest waiting of the calls with this id asks."""
        for place in self._places.get((token_id, call_id), ()):
            if place.question_id is not None:
                return place.question_id
        return None
