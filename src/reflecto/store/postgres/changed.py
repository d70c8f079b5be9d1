"""What a transaction has changed, by id, while it is under way."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Changed:
    """`device_ids`: their queues have grown; `watched_ids`: questions and pairings; `ended_ids`: removed devices."""

    device_ids: set[str] = field(default_factory=set)
    watched_ids: set[str] = field(default_factory=set)
    ended_ids: set[str] = field(default_factory=set)

    def add(self, other: "Changed") -> None:
        """Add what another part of the transaction has changed."""
        self.device_ids |= other.device_ids
        self.watched_ids |= other.watched_ids
        self.ended_ids |= other.ended_ids

    def __bool__(self) -> bool:
        return bool(self.device_ids or self.watched_ids or self.ended_ids)
