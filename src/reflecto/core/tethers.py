"""Tethered questions: one ends as cancelled when nobody has waited for it as long as its tether.

Made for askers that can be killed without a word. Every request by the asker's token is a wait, and a wait writes its
end ahead. Source: consent.md "tether".
"""

from reflecto.contract.envelopes import InteractionClosedPayload
from reflecto.core.clock import Clock
from reflecto.core.events import QUESTION_ABANDONED
from reflecto.core.model import Interaction
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.rules.tethers import is_abandoned
from reflecto.core.sealing import Sealer
from reflecto.core.withdrawals import seal_withdrawals


class Tethers:
    """Notes until when somebody waits for a question, and cancels one that nobody has waited for in time."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer, clock: Clock) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._clock = clock

    async def hold(self, interaction: Interaction, until: float) -> Interaction:
        """Note that somebody waits until `until` (Unix seconds) and return the question as it then stands.

        Where its time had run out, that is stored: what one reader saw ended must not come back after a restart.
        """
        tether, noted, now = interaction.tether, interaction.awaited_until, self._clock.now()
        if tether is None or noted is None or interaction.status != "pending":
            return interaction
        if is_abandoned(interaction, now):
            return await self.settle(interaction)
        gain = until - noted
        if gain <= 0 or (until <= now and gain < tether / 4):  # who asks again and again need not write each time
            return interaction
        return await self._store.hold_tether(interaction.id, until, now) or interaction

    async def release(self, interaction: Interaction, until: float) -> None:
        """Note that the wait which was to last until `until` ends now."""
        now = self._clock.now()
        if interaction.tether is not None and now < until and interaction.status == "pending":
            await self._store.release_tether(interaction.id, until, now)
            self._wakeups.tell(News(watched_ids=[interaction.id]))  # others that wait note their own end again

    async def settle(self, interaction: Interaction) -> Interaction:
        """Store the end of a question whose time has run out, withdraw its prompts, and return it."""
        if interaction.status != "pending" or not is_abandoned(interaction, self._clock.now()):
            return interaction
        now = self._clock.now()
        closed = InteractionClosedPayload("cancelled", reason="abandoned")
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, closed, now)
        ended = await self._store.close_if_abandoned(interaction.id, withdrawals, now)
        if ended is None:  # a tap or a wait was stored first
            return await self._store.find_interaction(interaction.id, now) or interaction
        grown = [delivery.device_id for delivery in withdrawals]
        self._wakeups.tell(News(watched_ids=[interaction.id], device_ids=grown))
        QUESTION_ABANDONED.log(question=ended.id, token=ended.token_id)
        return ended

    async def settle_due(self) -> None:
        """Store the end of every question whose time has run out."""
        for interaction in await self._store.list_abandoned(self._clock.now()):
            await self.settle(interaction)

    async def spare_all(self) -> None:
        """Let every tether begin now, at the start: while no server ran nobody could wait, and nobody does yet.

        A wait that a killed server had written ahead is over too.
        """
        await self._store.spare_tethered(self._clock.now())
