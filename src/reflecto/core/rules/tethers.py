"""When a tethered question ends. Pure; stores apply it inside their transaction. Source: consent.md "tether"."""

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
