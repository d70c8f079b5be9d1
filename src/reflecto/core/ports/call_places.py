"""Places of agents' calls: which of a token's calls wait for a tap, in whichever process. Source: hooks.md."""

from typing import Protocol


class CallPlaces(Protocol):
    """The calls of tools that wait. `call_mark` is equal for calls that look the same.

    Each method raises StoreUnavailableError.
    """

    async def take(self, token_id: str, call_mark: bytes) -> int:
        """Return the lowest number, from 0, that no other such call has; the call has it until it is given back.

        A process that is killed gives back what its calls have.
        """

    async def put_question(self, token_id: str, call_mark: bytes, number: int, question_id: str) -> None:
        """Note what the call asks now."""

    async def give_back(self, token_id: str, call_mark: bytes, number: int) -> None:
        """The call waits no longer."""

    async def first_question(self, token_id: str, call_mark: bytes) -> str | None:
        """Return what the longest waiting of these calls asks."""
