"""When a tethered question ends. Source: consent.md "tether"."""

from msgspec.structs import replace

from reflecto.core.model import Interaction


def abandoned_at(interaction: Interaction) -> float | None:
    """Return when (Unix seconds) a pending question ends for want of a waiter. None: no tether, or it expires first."""
    if interaction.tether is None or interaction.awaited_until is None:
        return None
    instant = interaction.awaited_until + interaction.tether
    return instant if instant < interaction.expires_at else None


def is_abandoned(interaction: Interaction, now: float) -> bool:
    """Tell whether a pending question has ended since nobody waited for it."""
    instant = abandoned_at(interaction)
    return instant is not None and now >= instant


def judge_hold(interaction: Interaction, until: float, now: float) -> Interaction:
    """Return the question as a wait until `until` leaves it: unchanged if it has ended or is waited for longer."""
    noted = interaction.awaited_until
    has_ended = interaction.status != "pending" or now >= interaction.expires_at or is_abandoned(interaction, now)
    if noted is None or has_ended or until <= noted:
        return interaction
    return replace(interaction, awaited_until=until)


def judge_abandonment(interaction: Interaction, now: float) -> Interaction | None:
    """Return the question cancelled as of the instant it ended for want of a waiter. None: it has not."""
    if interaction.status != "pending" or not is_abandoned(interaction, now):
        return None
    ended_at = int(abandoned_at(interaction) or now)
    return replace(interaction, status="cancelled", ended_at=ended_at, reason="abandoned")
