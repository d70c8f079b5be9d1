"""Questions that agents have asked over `/mcp`, until their results were handed over: several processes share them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class UnreadQuestion(msgspec.Struct, frozen=True):
    """A question whose result has not reached the agent yet, or may not have.

    `key` is the idempotency key under which it is asked, `repeat_mark` what the store makes of that; `content_mark` is
    equal for equal contents of one token. It is withdrawn at `withdraw_at` (Unix seconds), if it is still unread.
    """

    key: str
    token_id: str
    content_mark: bytes
    repeat_mark: bytes
    withdraw_at: float


class UnreadQuestions(Protocol):
    """The unread questions of all processes. Each method raises StoreUnavailableError."""

    async def begin(self, question: UnreadQuestion) -> str:
        """Note that this process asks it, and return under which key.

        That is the key of a question with the same token and content whose result was lost, in whichever process, also
        in one that is gone; each is taken up by one call. Else its own.
        """

    async def keep(self, key: str, withdraw_at: float) -> None:
        """Note that its result was lost, so that the same call may take it up until `withdraw_at`."""

    async def drop(self, key: str) -> None:
        """Forget it: its result was handed over, or it was withdrawn."""

    async def claim_due(self, now: float, again_at: float) -> Sequence[UnreadQuestion]:
        """Return some that are to be withdrawn now; nobody else gets them until `again_at`, nor takes them up."""
