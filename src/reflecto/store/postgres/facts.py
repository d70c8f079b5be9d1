"""What a transaction has locked and loaded: rules judge it in Python, and what they change is written in one go.

Owners are locked first and everything else is read after that, in statements of their own: a statement that locks and
reads sees what was there before it waited for the lock.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from reflecto.core.model import Delivery, Interaction
from reflecto.core.rules.interactions import status_at
from reflecto.core.rules.queue_room import (
    QueueLimits,
    QueueStanding,
    can_make_room_for_relayed,
    has_room,
    has_room_for_relayed,
)
from reflecto.store.postgres.changed import Changed

FROM_SERVER: Final = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a verb's rules look at. Owners of the devices and interactions named are found and locked as well.

    `repeats`: token, mark and the time from which on a question's window is open. `pending_from`: the questions that
    are pending after this time, for every owner of the transaction. `acked`: queues of which everything up to a
    number goes. `relayed`: queues that relayed entries are added to.
    """

    owners: Collection[str] = ()
    devices: Collection[str] = ()
    interactions: Collection[str] = ()
    tokens: Collection[str] = ()
    repeats: Collection[tuple[str, bytes, float]] = ()
    pending_from: float | None = None
    acked: Collection[tuple[str, int]] = ()
    relayed: Collection[str] = ()


@dataclass(slots=True)
class Queue:
    """A device as the rules see it: its queue's numbers and counts."""

    id: str
    owner_id: str
    is_phone: bool
    last_seq: int
    entries: int
    bytes: int
    relayed_entries: int
    relayed_bytes: int

    def count(self, entries: int, size: int, relayed_entries: int, relayed_bytes: int) -> None:
        """Add to the counts, or take from them where the numbers are negative."""
        self.entries += entries
        self.bytes += size
        self.relayed_entries += relayed_entries
        self.relayed_bytes += relayed_bytes


@dataclass(slots=True)
class Facts:
    """What was loaded, with the changes that verbs have made to it so far: the next verb sees those.

    `floor`: what is numbered gets a number above it.
    """

    bounds: QueueLimits
    floor: int
    queues: dict[str, Queue] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    by_mark: dict[tuple[str, bytes], list[str]] = field(default_factory=dict)
    pending: dict[str, dict[str, Interaction]] = field(default_factory=dict)  # by owner; without what is not judged
    acked: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)  # counts already deleted, by device
    loaded_seqs: dict[str, int] = field(default_factory=dict)
    relayed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # (number, size), the oldest first
    created: list[Interaction] = field(default_factory=list)
    altered: dict[str, Interaction] = field(default_factory=dict)
    appended: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[str, int]] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)
    changed: Changed = field(default_factory=Changed)

    def phones_of(self, owner_id: str) -> frozenset[str]:
        """Return the ids of the owner's phones."""
        return frozenset(each.id for each in self.queues.values() if each.owner_id == owner_id and each.is_phone)

    def find_repeat(self, token_id: str, mark: bytes, now: float) -> Interaction | None:
        """Return the token's question with this mark whose window is open."""
        found = (self.interactions[each] for each in self.by_mark.get((token_id, mark), ()))
        return next((each for each in found if each.expires_at > now), None)

    def count_pending(self, owner_id: str, now: float, *, test: bool) -> int:
        """Return how many questions of the owner wait for an answer."""
        pending = self.pending.get(owner_id, {}).values()
        return sum(each.test == test and status_at(each, now) == "pending" for each in pending)

    def create(self, new: Interaction) -> None:
        """Add a question."""
        self.created.append(new)
        self.keep(new)
        self.pending.setdefault(new.owner_id, {})[new.id] = new

    def change(self, changed: Interaction) -> None:
        """Put the question in the place of what it was."""
        self.altered[changed.id] = changed
        self.interactions[changed.id] = changed
        pending = self.pending.get(changed.owner_id, {})
        if changed.status == "pending":
            pending[changed.id] = changed
        else:
            pending.pop(changed.id, None)
        self.changed.watched_ids.add(changed.id)

    def note(self, held: Interaction) -> None:
        """Note how long a pending question is waited for; that is no news to anybody."""
        self.altered[held.id] = held
        self.interactions[held.id] = held
        if held.id in self.pending.get(held.owner_id, {}):
            self.pending[held.owner_id][held.id] = held

    def acknowledge(self, device_id: str, seq: int) -> bool:
        """Count out what was deleted up to the number. False: there is no such device, or it never came so far."""
        queue = self.queues.get(device_id)
        if queue is None or seq > self.loaded_seqs[device_id]:
            return False
        entries, size, relayed_entries, relayed_bytes = self.acked.pop(device_id, (0, 0, 0, 0))
        if entries:
            queue.count(-entries, -size, -relayed_entries, -relayed_bytes)
            self.counted.add(device_id)
        return True

    def append(self, deliveries: Iterable[Delivery]) -> list[str]:
        """Number and append each blob where there is room; return the ids of the devices whose queues took it."""
        return [each.device_id for each in deliveries if self._append(each)]

    def _append(self, delivery: Delivery) -> bool:
        queue = self.queues.get(delivery.device_id)
        if queue is None or not self._make_room(queue, delivery):
            return False
        size, is_relayed = len(delivery.blob), delivery.sender != FROM_SERVER
        queue.last_seq = max(queue.last_seq, self.floor) + 1
        queue.count(1, size, int(is_relayed), size if is_relayed else 0)
        self.counted.add(queue.id)
        self.changed.device_ids.add(queue.id)
        if is_relayed:
            self.relayed.setdefault(queue.id, []).append((queue.last_seq, size))
        self.appended.append(
            (
                queue.id,
                queue.last_seq,
                delivery.sender,
                delivery.blob,
                delivery.expires_at,
                delivery.urgency,
                delivery.topic,
            )
        )
        return True

    def _make_room(self, queue: Queue, delivery: Delivery) -> bool:
        """Tell whether the blob fits in the queue as it stands; older relayed ones go for a relayed one."""
        size, standing = len(delivery.blob), self._standing(queue)
        if delivery.sender == FROM_SERVER:
            return has_room(standing, size, self.bounds, is_essential=delivery.is_essential)
        if has_room_for_relayed(standing, size, self.bounds):
            return True
        if not can_make_room_for_relayed(standing, size, self.bounds):
            return False
        while not has_room_for_relayed(standing, size, self.bounds):
            seq, gone = self.relayed[queue.id].pop(0)
            self.dropped.append((queue.id, seq))
            queue.count(-1, -gone, -1, -gone)
            standing = self._standing(queue)
        return True

    def _standing(self, queue: Queue) -> QueueStanding:
        owner_bytes = sum(each.bytes for each in self.queues.values() if each.owner_id == queue.owner_id)
        return QueueStanding(queue.entries, queue.bytes, queue.relayed_entries, queue.relayed_bytes, owner_bytes)

    def keep(self, interaction: Interaction) -> None:
        """Take a question up that was loaded or created."""
        if interaction.id not in self.interactions:
            self.by_mark.setdefault((interaction.token_id, interaction.repeat_mark), []).append(interaction.id)
            self.interactions[interaction.id] = interaction
