"""The queues of the owners that a transaction has locked: entries are numbered, counted and judged here."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from reflecto.core.model import Delivery, Device
from reflecto.core.rules.missed import surplus_questions
from reflecto.core.rules.outcomes import Sending
from reflecto.core.rules.queue_room import (
    QueueLimits,
    QueueStanding,
    can_make_room_for_relayed,
    has_room,
    has_room_for_relayed,
)
from reflecto.store.postgres.changed import Changed

FROM_SERVER: Final = "server"


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


Entry = tuple[int, int, bool]  # number, size in bytes, whether it was relayed
Asked = tuple[str, int, int | None]  # of an entry: question, size in bytes, until when it is pushed


@dataclass
class QueueFacts:
    """The devices of the owners, with the changes that verbs have made so far: the next verb sees those.

    `floor`: what is numbered gets a number above it.
    """

    bounds: QueueLimits
    floor: int
    queues: dict[str, Queue] = field(default_factory=dict)
    changed: Changed = field(default_factory=Changed)
    _of_owner: dict[str, list[Queue]] = field(default_factory=dict)
    _owner_bytes: dict[str, int] = field(default_factory=dict)
    given_out: dict[str, int] = field(default_factory=dict)  # the highest number anybody can have seen, by device
    acked: dict[str, list[Entry]] = field(default_factory=dict)  # deleted, but counted until they are acknowledged
    relayed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # number and size, the oldest first
    appended: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[str, int]] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)
    asked: dict[str, dict[int, Asked]] = field(default_factory=dict)  # what belongs to questions, by device and number
    _of_question: dict[str, set[tuple[str, int]]] = field(default_factory=dict)

    def devices_of(self, owner_id: str) -> list[Queue]:
        """Return the owner's devices."""
        return self._of_owner.get(owner_id, [])

    def phones_of(self, owner_id: str) -> frozenset[str]:
        """Return the ids of the owner's phones."""
        return frozenset(each.id for each in self.devices_of(owner_id) if each.is_phone)

    def add_device(self, device: Device) -> None:
        """Add a device that the transaction has made, with an empty queue."""
        self.keep_queue(Queue(device.id, device.owner_id, device.device_class == "phone", device.last_seq, 0, 0, 0, 0))

    def forget_device(self, device_id: str) -> None:
        """Leave out a device that the transaction has deleted."""
        queue = self.queues.pop(device_id)
        self._of_owner[queue.owner_id].remove(queue)
        self._owner_bytes[queue.owner_id] -= queue.bytes
        self.counted.discard(device_id)

    def acknowledge(self, device_id: str, seq: int) -> bool:
        """Count out what goes with the number. False: there is no such device, or its queue never came so far.

        A number that another verb of this batch gives out has not been seen by anybody yet.
        """
        queue = self.queues.get(device_id)
        if queue is None or seq > self.given_out[device_id]:
            return False
        left = []
        for entry in self.acked.get(device_id, ()):
            if entry[0] > seq:
                left.append(entry)
            else:
                self.count_out(device_id, *entry[1:])
        if device_id in self.acked:
            self.acked[device_id] = left
        if device_id in self.relayed:
            self.relayed[device_id] = [each for each in self.relayed[device_id] if each[0] > seq]
        if device_id in self.asked:
            self.asked[device_id] = {number: each for number, each in self.asked[device_id].items() if number > seq}
        return True

    def count_out(self, device_id: str, size: int, is_relayed: bool) -> None:  # noqa: FBT001  a column
        """Take an entry that was deleted out of the counts."""
        self._count(self.queues[device_id], -1, -size, is_relayed=is_relayed)

    def keep_asked(self, device_id: str, seq: int, asked: Asked) -> None:
        """Take an entry up that belongs to a question."""
        self.asked.setdefault(device_id, {})[seq] = asked
        self._of_question.setdefault(asked[0], set()).add((device_id, seq))

    def drop_prompts(self, question_id: str) -> None:
        """Delete what the queues hold of a question."""
        for device_id, seq in sorted(self._of_question.get(question_id, ())):
            self._drop_asked(device_id, seq)

    def drop_older_missed(self, device_id: str, now: float) -> None:
        """Delete what the queue holds of missed questions beyond the newest."""
        missed = {
            seq: question_id
            for seq, (question_id, _, push_until) in self.asked.get(device_id, {}).items()
            if push_until is not None and push_until <= now
        }
        going = surplus_questions(missed.items())
        for seq in [seq for seq, question_id in missed.items() if question_id in going]:
            self._drop_asked(device_id, seq)

    def _drop_asked(self, device_id: str, seq: int) -> None:
        asked = self.asked.get(device_id, {}).pop(seq, None)
        if asked is not None and device_id in self.queues:
            self._drop(self.queues[device_id], seq, asked[1], is_relayed=False)

    def _drop(self, queue: Queue, seq: int, size: int, *, is_relayed: bool) -> None:
        """Delete an entry, which may be one that goes with an acknowledgement too."""
        self.dropped.append((queue.id, seq))
        self._count(queue, -1, -size, is_relayed=is_relayed)
        if queue.id in self.acked:
            self.acked[queue.id] = [each for each in self.acked[queue.id] if each[0] != seq]

    def append(self, deliveries: Iterable[Delivery]) -> list[str]:
        """Number and append each blob where there is room; return the ids of the devices whose queues took it."""
        return [each.device_id for each in deliveries if self._append(each)]

    def send(self, deliveries: Collection[Delivery]) -> Sending:
        """Append the same, and tell the devices whose queues are full from those that are gone."""
        reached = tuple(self.append(deliveries))
        missed = dict.fromkeys(each.device_id for each in deliveries if each.device_id not in reached)
        return Sending(reached, tuple(each for each in missed if each in self.queues))

    def _append(self, delivery: Delivery) -> bool:
        queue = self.queues.get(delivery.device_id)
        if queue is None or not self._make_room(queue, delivery):
            return False
        size, is_relayed = len(delivery.blob), delivery.sender != FROM_SERVER
        queue.last_seq = max(queue.last_seq, self.floor) + 1
        self._count(queue, 1, size, is_relayed=is_relayed)
        self.changed.device_ids.add(queue.id)
        if is_relayed and queue.id in self.relayed:
            self.relayed[queue.id].append((queue.last_seq, size))
        if delivery.question_id is not None:
            self.keep_asked(queue.id, queue.last_seq, (delivery.question_id, size, delivery.push_until))
        self.appended.append(
            (
                queue.id,
                queue.last_seq,
                delivery.sender,
                delivery.blob,
                delivery.expires_at,
                delivery.urgency,
                delivery.topic,
                delivery.question_id,
                delivery.push_until,
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
        oldest = self.relayed[queue.id]
        while not has_room_for_relayed(self._standing(queue), size, self.bounds):
            self._drop(queue, *oldest.pop(0), is_relayed=True)
        return True

    def _standing(self, queue: Queue) -> QueueStanding:
        return QueueStanding(
            queue.entries, queue.bytes, queue.relayed_entries, queue.relayed_bytes, self._owner_bytes[queue.owner_id]
        )

    def _count(self, queue: Queue, entries: int, size: int, *, is_relayed: bool) -> None:
        """Add to the counts, or take from them where the numbers are negative."""
        queue.entries += entries
        queue.bytes += size
        if is_relayed:
            queue.relayed_entries += entries
            queue.relayed_bytes += size
        self._owner_bytes[queue.owner_id] += size
        self.counted.add(queue.id)

    def keep_queue(self, queue: Queue) -> None:
        """Take a queue up that was loaded or made."""
        self.queues[queue.id] = queue
        self._of_owner.setdefault(queue.owner_id, []).append(queue)
        self._owner_bytes[queue.owner_id] = self._owner_bytes.get(queue.owner_id, 0) + queue.bytes
        self.given_out[queue.id] = max(queue.last_seq, self.floor)

    def maybe_full(self, deliveries: Collection[Delivery]) -> list[str]:
        """Return the queues in which relayed entries may have to make room, if all that comes with the batch fits."""
        relayed = [each for each in deliveries if each.sender != FROM_SERVER]
        if not relayed:
            return []
        coming = sum(len(each.blob) for each in deliveries)
        full = []
        for device_id in {each.device_id for each in relayed} & self.queues.keys():
            queue = self.queues[device_id]
            at_most = QueueStanding(
                queue.entries + len(deliveries),
                queue.bytes + coming,
                queue.relayed_entries + len(relayed),
                queue.relayed_bytes + coming,
                self._owner_bytes[queue.owner_id] + coming,
            )
            if not has_room_for_relayed(at_most, 0, self.bounds):
                full.append(device_id)
        return full
