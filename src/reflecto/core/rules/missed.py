"""Which missed questions stay in a queue. Source: consent.md "Missed"."""

from collections.abc import Iterable

from reflecto.contract.limits import MISSED_MAX_PER_DEVICE


def surplus_questions(waiting: Iterable[tuple[int, str]]) -> set[str]:
    """Return the questions that go, so that only the newest stay in the queue of a device.

    `waiting`: number and question of each entry that belongs to a missed one. The newest are those asked last: nothing
    of a question comes before its prompt.
    """
    asked: dict[str, int] = {}
    for seq, question_id in waiting:
        asked[question_id] = min(seq, asked.get(question_id, seq))
    return set(sorted(asked, key=asked.__getitem__)[:-MISSED_MAX_PER_DEVICE])
