"""What a verb says of itself before it runs, so that all a transaction needs is locked and read at once."""

from collections.abc import Collection
from typing import Any

import msgspec

from reflecto.core.model import Delivery
from reflecto.core.ports.store import Keep


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a verb's rules look at. Owners of the devices and interactions named are found and locked as well.

    `deliveries`: what it may append, of whose queues it needs the standing. `repeats`: token, mark and the time from
    which on a question's window is open. `pending_from`: the questions that are pending after this time, for every
    owner of the transaction. `acked`: queues of which everything up to a number goes. `ended`: questions of which
    the queues keep nothing. `missed_by`: devices of whose missed questions only the newest stay, and since when they
    are. `keep`: the reply that is kept with what the verb does, or found kept.
    """

    owners: Collection[str] = ()
    devices: Collection[str] = ()
    deliveries: Collection[Delivery] = ()
    interactions: Collection[str] = ()
    tokens: Collection[str] = ()
    repeats: Collection[tuple[str, bytes, float]] = ()
    pending_from: float | None = None
    acked: Collection[tuple[str, int]] = ()
    ended: Collection[str] = ()
    missed_by: Collection[tuple[str, float]] = ()
    keep: Keep[Any] | None = None

    def owner_ids(self) -> set[str]:
        """Return the owners that are named."""
        return {*self.owners} if self.keep is None else {*self.owners, self.keep.owner_id}

    def owned_ids(self) -> set[str]:
        """Return the ids of which the owner is to be found."""
        ids = {*self.devices, *self.interactions}
        ids.update(each.device_id for each in self.deliveries)
        return ids

    def size(self) -> int:
        """Return how many bytes the verb brings."""
        return sum(len(each.blob) for each in self.deliveries)
