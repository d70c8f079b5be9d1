"""Which senders the owner has muted, by this phone's own list. Pure; times are Unix seconds."""

from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from reflecto.phone import effects
from reflecto.phone.lifecycle import Step
from reflecto.phone.state import PhoneState

Until = int | Literal["forever"]
MINUTES_15: Final = 15 * 60
HOUR: Final = 60 * 60


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


def tomorrow(now: float) -> int:
    """Return eight in the morning of the next day, by this machine's calendar."""
    day = datetime.fromtimestamp(now).astimezone() + timedelta(days=1)
    return int(day.replace(hour=8, minute=0, second=0, microsecond=0).timestamp())
