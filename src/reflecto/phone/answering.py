"""Who answers: the owner at the keyboard, or a rule given with `--answer`."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    """Answers by itself: with the first choice, or with the one of this label where there is one."""

    label: str | None  # None means the first choice

    def choose(self, choices: Sequence[str]) -> int | None:
        """Return the index of the choice to take, or None to leave the question open."""
        if self.label is None:
            return 0
        wanted = _folded(self.label)
        return next((index for index, choice in enumerate(choices) if _folded(choice) == wanted), None)


def read_rule(option: str) -> Rule | None:
    """Read `--answer`: `first`, a label, or `ask` for None, the owner."""
    if option == "ask":
        return None
    return Rule(None if option == "first" else option)


def _folded(label: str) -> str:
    return unicodedata.normalize("NFC", label.strip())  # the contract keeps labels apart by this very form
