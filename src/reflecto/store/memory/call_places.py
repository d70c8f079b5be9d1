"""`core.ports.call_places.CallPlaces` where one process has every call."""

from itertools import count


class MemoryCallPlaces:
    """The calls that wait here: what each asks, by number, the longest waiting first."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, bytes], dict[int, str | None]] = {}

    async def take(self, token_id: str, call_mark: bytes) -> int:
        """Return the lowest free number."""
        places = self._places.setdefault((token_id, call_mark), {})
        number = next(each for each in count() if each not in places)
        places[number] = None
        return number

    async def put_question(self, token_id: str, call_mark: bytes, number: int, question_id: str) -> None:
        """Note what the call asks now."""
        self._places[token_id, call_mark][number] = question_id

    async def give_back(self, token_id: str, call_mark: bytes, number: int) -> None:
        """The call waits no longer."""
        places = self._places[token_id, call_mark]
        del places[number]
        if not places:
            del self._places[token_id, call_mark]

    async def first_question(self, token_id: str, call_mark: bytes) -> str | None:
        """Return what the longest waiting of these calls asks."""
        places = self._places.get((token_id, call_mark), {})
        return next((question_id for question_id in places.values() if question_id is not None), None)
