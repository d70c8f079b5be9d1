"""The places for open questions are an owner's, who learns on the phone when a sender finds none.

Source: consent.md "Too many".
"""

from collections.abc import Sequence
from contextlib import suppress

from reflecto.contract.envelopes import NotificationPayload
from reflecto.contract.ids import new_id
from reflecto.core.clock import Clock
from reflecto.core.model import Token
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.rules.senders import should_tell_refusal
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry

NAMES_MAX = 3  # of those who hold the places; the others are counted


class Places:
    """Tells owners of senders for whose questions there was no place."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer, clock: Clock) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._clock = clock

    async def tell_refused(self, token: Token) -> None:
        """Tell the owner's phones who holds the places, once for each sender; test tokens have places of their own."""
        if token.test:
            return
        with suppress(StoreUnavailableError):  # the next refusal tells
            await self._tell(token)

    async def _tell(self, token: Token) -> None:
        now = self._clock.now()
        holders = await self._store.list_holders(token.owner_id, now)
        if not should_tell_refusal(token, holders):
            return
        labels = {each.id: each.label for each in await self._store.list_tokens(token.owner_id)}
        names = [labels[each.token_id] for each in holders if each.token_id in labels]
        payload = NotificationPayload(
            message=holding_of(names, token.label), title=f"{token.label} was refused", priority="low"
        )
        envelope = make_envelope("notification", new_id("msg"), now, payload, server="Reflecto")
        devices = await self._store.list_devices(token.owner_id)
        phones = [device for device in devices if device.device_class == "phone"]
        notices = self._sealer.seal_for(phones, envelope, queue_expiry(now))
        reached = await self._store.tell_refusal_once(token.owner_id, token.id, notices, now)
        if reached:
            self._wakeups.tell(News(device_ids=reached))


def holding_of(names: Sequence[str], refused: str) -> str:
    """Return who holds the places; `names` has who holds most first, and `refused` may be among them."""
    if list(names) == [refused]:
        return "It holds all ten places itself."
    if len(names) == 1:
        return f"{names[0]} holds all ten places."
    shown, others = list(names[:NAMES_MAX]), len(names) - NAMES_MAX
    if others > 0:
        shown.append(f"{others} more")
    return f"{', '.join(shown[:-1])} and {shown[-1]} hold all ten places."
