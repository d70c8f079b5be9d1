"""How a question ends: with the first tap, with a wrong number too many, withdrawn, refused, or with its time.

What decides is in `core/rules/interactions.py`.
"""

from typing import NoReturn

from reflecto.contract.api_error import ApiError
from reflecto.contract.envelopes import InteractionClosedPayload
from reflecto.contract.errors import ALREADY_ANSWERED, INTERACTION_CLOSED, INVALID_TOKEN, NOT_FOUND, WRONG_NUMBER
from reflecto.contract.limits import WRONG_NUMBERS_MAX
from reflecto.contract.question_states import Reason
from reflecto.core.answers import winning_answer
from reflecto.core.clock import Clock
from reflecto.core.events import (
    QUESTION_ANSWERED,
    QUESTION_DISMISSED,
    QUESTION_EXPIRED,
    QUESTION_NUMBER_WRONG,
    QUESTION_WITHDRAWN,
)
from reflecto.core.model import Delivery, Device, Interaction, Tap
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.rules.interactions import status_at
from reflecto.core.rules.outcomes import EndResult, Verdict
from reflecto.core.sealing import Sealer
from reflecto.core.tethers import Tethers
from reflecto.core.withdrawals import seal_withdrawals


class Endings:
    """Each end is stored once, told to the phones and to whoever waits, and logged."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer, clock: Clock, tethers: Tethers) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._clock = clock
        self._tethers = tethers

    async def expire(self, interaction: Interaction) -> None:
        """Store that its time ran out, and tell the phones, behind the prompts that they missed."""
        now = self._clock.now()
        closed = InteractionClosedPayload("expired")
        closings = await seal_withdrawals(self._store, self._sealer, interaction, closed, now)
        if await self._store.close_if_expired(interaction.id, closings, now) is not None:  # else another process did
            self._ended(interaction.id, closings)
            QUESTION_EXPIRED.log(question=interaction.id, token=interaction.token_id)

    async def record(self, interaction: Interaction, tap: Tap, withdrawals: list[Delivery], now: float) -> Interaction:
        """Record a tap if it is the first; return the question. Raises: ApiError for one that is not taken."""
        recorded = await self._store.record_answer_if_pending(interaction.id, tap, withdrawals, now)
        result = await self._taken(recorded, now)
        if result.verdict is Verdict.ACCEPTED:
            self._ended(interaction.id, withdrawals)
            QUESTION_ANSWERED.log(question=interaction.id, token=interaction.token_id, device=tap.device_id)
        return result.interaction

    async def count_wrong_number(self, interaction: Interaction, tap: Tap, now: float) -> NoReturn:
        """Count it, over all phones, and refuse the tap; the last one ends the question."""
        closed = InteractionClosedPayload("cancelled", reason="wrong_number")
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, closed, now)
        counted = await self._store.count_wrong_number(interaction.id, tap, withdrawals, now)
        result = await self._taken(counted, now)
        tries_left = 0 if result.interaction.status == "cancelled" else WRONG_NUMBERS_MAX - 1
        if result.verdict is Verdict.ACCEPTED:
            if not tries_left:
                self._ended(interaction.id, withdrawals)
            QUESTION_NUMBER_WRONG.log(
                question=interaction.id, token=interaction.token_id, device=tap.device_id, tries_left=tries_left
            )
        raise ApiError(WRONG_NUMBER, details={"tries_left": tries_left})

    async def _taken(self, result: EndResult | None, now: float) -> EndResult:
        """Return what became of a tap that was taken. Raises: ApiError for one that was not."""
        if result is None:
            raise ApiError(NOT_FOUND)
        if result.verdict is Verdict.DEVICE_REMOVED:
            raise ApiError(INVALID_TOKEN)
        if result.verdict is Verdict.ALREADY_ANSWERED:
            raise ApiError(ALREADY_ANSWERED, details=winning_answer(result.interaction))
        if result.verdict is Verdict.CLOSED:
            await self._tethers.settle(result.interaction)
            raise ApiError(INTERACTION_CLOSED, details={"status": status_at(result.interaction, now)})
        return result

    async def cancel(self, interaction: Interaction, reason: Reason, device: Device | None = None) -> EndResult:
        """Cancel it; `device` is the phone that does so, and needs not be told."""
        now = self._clock.now()
        closed = InteractionClosedPayload("cancelled", reason=reason)
        closer_id = device.id if device else None
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, closed, now, winner_id=closer_id)
        result = await self._store.cancel_if_pending(interaction.id, withdrawals, now, reason)
        if result is None:
            raise ApiError(NOT_FOUND)
        if result.verdict is Verdict.ACCEPTED:
            self._ended(interaction.id, withdrawals)
            if device is None:
                QUESTION_WITHDRAWN.log(question=interaction.id, token=interaction.token_id)
            else:
                QUESTION_DISMISSED.log(question=interaction.id, token=interaction.token_id, device=device.id)
        return result

    def _ended(self, interaction_id: str, withdrawals: list[Delivery]) -> None:
        grown = [delivery.device_id for delivery in withdrawals]
        self._wakeups.tell(News(watched_ids=[interaction_id], device_ids=grown))
