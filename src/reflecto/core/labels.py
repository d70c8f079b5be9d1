"""Labels that a person can tell apart. Source: consent.md "Emphasis", "Who asks"."""

import asyncio
from collections.abc import Collection

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_CHOICES
from reflecto.core.rules.lookalikes import are_apart, prototypes


async def load_lookalikes() -> None:
    """Load the table that skeletons are made with, once and beside the event loop: it takes a tenth of a second."""
    if not prototypes.cache_info().currsize:
        await asyncio.to_thread(prototypes)


async def check_choices(labels: Collection[str]) -> None:
    """Raises: ApiError `invalid_choices` where a person could take one for another."""
    await load_lookalikes()
    if not are_apart(labels):
        raise ApiError(INVALID_CHOICES, "choices has labels that a person cannot tell apart")
