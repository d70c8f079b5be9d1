"""The questions that a transaction has loaded, for verbs to judge and change."""

from dataclasses import dataclass, field

from reflecto.core.model import Interaction
from reflecto.core.rules.interactions import status_at
from reflecto.store.postgres.changed import Changed


@dataclass
class QuestionFacts:
    """Questions by id, with the changes that verbs have made so far: the next verb sees those."""

    changed: Changed
    interactions: dict[str, Interaction] = field(default_factory=dict)
    by_mark: dict[tuple[str, bytes], list[str]] = field(default_factory=dict)
    pending: dict[str, dict[str, Interaction]] = field(default_factory=dict)  # by owner; without what is not judged
    created: list[Interaction] = field(default_factory=list)  # as they begin
    altered: set[str] = field(default_factory=set)

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
        self.keep_question(new)
        self.pending.setdefault(new.owner_id, {})[new.id] = new

    def change(self, changed: Interaction) -> None:
        """Put the question in the place of what it was."""
        self.note(changed)
        if changed.status != "pending":
            self.pending.get(changed.owner_id, {}).pop(changed.id, None)
        self.changed.watched_ids.add(changed.id)

    def note(self, held: Interaction) -> None:
        """Note how long a pending question is waited for; that is no news to anybody."""
        self.altered.add(held.id)
        self.interactions[held.id] = held
        pending = self.pending.get(held.owner_id, {})
        if held.id in pending:
            pending[held.id] = held

    def keep_question(self, interaction: Interaction) -> None:
        """Take a question up that was loaded or created."""
        if interaction.id not in self.interactions:
            self.by_mark.setdefault((interaction.token_id, interaction.repeat_mark), []).append(interaction.id)
            self.interactions[interaction.id] = interaction
