"""Which senders the owner has muted, by this phone's own list. Pure; times are Unix seconds."""

from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from reflecto.contract.envelopes import Envelope
from reflecto.phone import effects
from reflecto.phone.lifecycle import Step
from reflecto.phone.readers import payload_of
from reflecto.phone.state import PhoneState

Until = int | Literal["forever"]
MINUTES_15: Final = 15 * 60
HOUR: Final = 60 * 60


class SenderChanged(msgspec.Struct, frozen=True):
    """What a phone of the owner, `by`, has changed of a token; the rest of its payload is not for this phone."""

    token_id: str
    by: str
    by_id: str
    label: str | msgspec.UnsetType = msgspec.UNSET
    muted_until: int | str | msgspec.UnsetType | None = msgspec.UNSET


class MutedBy(NamedTuple):
    """A sender was muted, or no longer is (`until` None), on the device `by`; None means this one."""

    token_id: str
    source: str
    until: Until | None
    by: str | None = None


def is_muted(state: PhoneState, token_id: str | None, now: float) -> bool:
    """Tell whether nothing new of this sender is to be shown."""
    until = state.muted.get(token_id or "")
    return until is not None and (until == "forever" or now < until)


def mute(state: PhoneState, muted: MutedBy, now: float) -> Step:
    """Keep it, and tell it, unless it is so already."""
    kept = {token_id: until for token_id, until in state.muted.items() if is_muted(state, token_id, now)}
    before = kept.pop(muted.token_id, None)
    if muted.until is not None:
        kept[muted.token_id] = muted.until
    if before == muted.until:
        return Step(state)
    told = effects.Muted(token_id=muted.token_id, source=muted.source, until=muted.until, by=muted.by)
    return Step(msgspec.structs.replace(state, muted=kept), (told,))


def read_sender_changed(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Tell what was changed, and keep for how long the sender is muted."""
    change = payload_of(envelope, SenderChanged)
    known = next((each.source for each in state.questions if each.token_id == change.token_id), "A sender")
    is_own = state.identity is not None and change.by_id == state.identity.device_id
    by = None if is_own else change.by
    told: tuple[effects.Effect, ...] = ()
    if change.label is not msgspec.UNSET:
        told = (effects.Renamed(token_id=change.token_id, source=known, label=change.label, by=by),)
    if change.muted_until is msgspec.UNSET:
        return Step(state, told)
    until: Until | None = "forever"
    if change.muted_until is None or isinstance(change.muted_until, int):
        until = change.muted_until
    muted = mute(state, MutedBy(change.token_id, known, until, by), now)
    return Step(muted.state, told + muted.effects)


def tomorrow(now: float) -> int:
    """Return eight in the morning of the next day, by this machine's calendar."""
    day = datetime.fromtimestamp(now).astimezone() + timedelta(days=1)
    return int(day.replace(hour=8, minute=0, second=0, microsecond=0).timestamp())
