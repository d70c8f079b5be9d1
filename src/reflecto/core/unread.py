"""Withdraws what agents have asked over `/mcp` and whose answer nobody would read any more, in whichever process."""

from typing import Final

from reflecto.core.clock import Clock
from reflecto.core.interactions import Interactions
from reflecto.core.ports.unread import UnreadQuestions

AGAIN_SECONDS: Final = 30  # until another process withdraws what this one could not


class Unread:
    """The unread questions of a server of several processes."""

    def __init__(self, questions: UnreadQuestions, interactions: Interactions, clock: Clock) -> None:
        self._questions = questions
        self._interactions = interactions
        self._clock = clock

    async def withdraw_due(self) -> None:
        """Withdraw those whose time has come; one that was never stored, or has ended, is forgotten."""
        now = self._clock.now()
        for each in await self._questions.claim_due(now, now + AGAIN_SECONDS):
            await self._interactions.withdraw_repeat(each.token_id, each.repeat_mark)
            await self._questions.drop(each.key)
