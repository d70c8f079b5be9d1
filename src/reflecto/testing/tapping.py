"""Clients with a test token that tap each question themselves, as soon as a real server has it."""

from collections.abc import Callable, Sequence
from typing import Any

from reflecto.client.aio import AsyncReflecto
from reflecto.client.results import Question
from reflecto.client.sync import Reflecto

Taps = str | Callable[[Question], str]


class TappingReflecto(Reflecto):
    """`Reflecto` whose questions are answered at once: in place of the client of the program under test.

    Args: those of `Reflecto`, with a test token, and
        taps: the label to tap, or a function that chooses it for each question.
    """

    def __init__(self, url: str, token: str, *, taps: Taps, **options: Any) -> None:
        super().__init__(url, token, **options)
        self._taps = taps

    def create(self, question: str, choices: Sequence[str] | None = None, **options: Any) -> Question:
        """Ask, and tap. Raises: as `Reflecto.create` and `Reflecto.simulate`."""
        asked = super().create(question, choices, **options)
        if not asked.replayed:
            self.simulate(asked, _tap(self._taps, asked))
        return asked


class AsyncTappingReflecto(AsyncReflecto):
    """`TappingReflecto` with every call awaited."""

    def __init__(self, url: str, token: str, *, taps: Taps, **options: Any) -> None:
        super().__init__(url, token, **options)
        self._taps = taps

    async def _create(self, *arguments: Any) -> Question:
        asked = await super()._create(*arguments)
        if not asked.replayed:
            await self.simulate(asked, _tap(self._taps, asked))
        return asked


def _tap(taps: Taps, asked: Question) -> str:
    return taps if isinstance(taps, str) else taps(asked)
