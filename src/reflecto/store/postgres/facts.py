"""What a transaction has locked and loaded: rules judge it in Python, and what they change is written in one go.

Owners are locked first and everything else is read after that, in statements of their own: a statement that locks and
reads sees what was there before it waited for the lock.
"""

from collections.abc import Collection

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.changed import Changed
from reflecto.store.postgres.kept_replies import KeptReplies
from reflecto.store.postgres.question_facts import QuestionFacts
from reflecto.store.postgres.queue_facts import QueueFacts


class Facts(QueueFacts, QuestionFacts):
    """What was loaded, with the changes that verbs have made to it so far: the next verb sees those.

    `owners`: those that exist and are locked. `left_out`: those that another transaction holds, and nobody waited for.
    `tokens`: the live ones of those that verbs named, with until when each is muted. `replies`: those kept for repeats.
    """

    def __init__(self, bounds: QueueLimits, floor: int, owners: Collection[str]) -> None:
        changed = Changed()
        QueueFacts.__init__(self, bounds, floor, changed=changed)
        QuestionFacts.__init__(self, changed)
        self.owners = frozenset(owners)
        self.left_out: frozenset[str] = frozenset()
        self.tokens: dict[str, int | None] = {}
        self.replies = KeptReplies()
