"""How much may wait for a device and for an owner. Source: api.md "Limits"."""

import msgspec

from reflecto.contract import limits


class QueueLimits(msgspec.Struct, frozen=True):
    """Bounds of one device's queue, and of all queues of an owner in bytes.

    The reserved bytes are the last ones of a queue's and of an owner's; the reserved entries come on top. Both are for
    questions and closings, so that whoever only sends cannot keep a question from its phone.
    """

    entries: int = limits.QUEUE_MAX_ENTRIES
    bytes: int = limits.QUEUE_MAX_BYTES
    relayed_entries: int = limits.RELAYED_MAX_ENTRIES
    relayed_bytes: int = limits.RELAYED_MAX_BYTES
    owner_bytes: int = limits.OWNER_QUEUES_MAX_BYTES
    reserved_bytes: int = limits.QUEUE_RESERVED_BYTES
    reserved_entries: int = limits.QUEUE_RESERVED_ENTRIES


class QueueStanding(msgspec.Struct, frozen=True):
    """What a device's queue holds, relayed entries included, and how many bytes all queues of its owner hold."""

    entries: int
    bytes: int
    relayed_entries: int
    relayed_bytes: int
    owner_bytes: int

    def without(self, entries: int, size: int) -> "QueueStanding":
        """Return what is left when so many relayed entries, of `size` bytes in all, are gone."""
        return QueueStanding(
            self.entries - entries,
            self.bytes - size,
            self.relayed_entries - entries,
            self.relayed_bytes - size,
            self.owner_bytes - size,
        )


def has_room(standing: QueueStanding, size: int, bounds: QueueLimits, *, is_essential: bool) -> bool:
    """Tell whether one more entry of `size` bytes fits; an essential one may take what is reserved."""
    entries = bounds.entries + (bounds.reserved_entries if is_essential else 0)
    kept_bytes = 0 if is_essential else bounds.reserved_bytes
    return (
        standing.entries < entries
        and standing.bytes + size <= bounds.bytes - kept_bytes
        and standing.owner_bytes + size <= bounds.owner_bytes - kept_bytes
    )


def has_room_for_relayed(standing: QueueStanding, size: int, bounds: QueueLimits) -> bool:
    """Tell whether one more relayed entry of `size` bytes fits without an older one going."""
    return (
        standing.relayed_entries < bounds.relayed_entries
        and standing.relayed_bytes + size <= bounds.relayed_bytes
        and has_room(standing, size, bounds, is_essential=False)
    )


def can_make_room_for_relayed(standing: QueueStanding, size: int, bounds: QueueLimits) -> bool:
    """Tell whether it fits once older relayed entries have gone, all of them if need be."""
    emptied = standing.without(standing.relayed_entries, standing.relayed_bytes)
    return has_room_for_relayed(emptied, size, bounds)
