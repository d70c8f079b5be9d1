"""The status line: the longest of several wordings that fits, so that the keys are always in view. Pure."""

from collections.abc import Sequence

from reflecto.contract.visibility import visible
from reflecto.phone.effects import Opened
from reflecto.terminal.columns import cell_width

HELP = (
    "   1-4    answer the question below",
    "   Space  show more of it, or again",
    "   Tab n  go to the next question",
    "   c      say why, then answer",
    "   r      refuse it, or its sender's all",
    "   m u    mute its sender, or no longer",
    "   a      acknowledge an emergency",
    "   q      quit",
)


def fitting(wordings: Sequence[str], columns: int | None) -> str:
    """Return the first wording that fits beside the cursor, else the last."""
    for wording in wordings:
        if columns is None or cell_width(wording) < columns:
            return wording
    return wordings[-1]


def question_status(front: Opened, number: str, left: str, *, waiting: int) -> list[str]:
    """Return wordings for a question whose keys answer, the longest first. `waiting`: how many are open."""
    choices = ", ".join(f"{index + 1} {visible(choice)}" for index, choice in enumerate(front.choices))
    digits = " ".join(str(index + 1) for index in range(len(front.choices)))
    others = f"; Tab: next of {waiting}" if waiting > 1 else ""
    word = "; c: say why" if front.comment else ""
    tab, c = ("Tab " if waiting > 1 else ""), ("c " if front.comment else "")
    return [
        f"{number}: {left} left{others}; q quits; {choices}{word}; ?: more keys",
        f"{number}: {left} left; {choices}{others}{word}; ?: keys",
        f"{number} {left}; {choices}; {tab}{c}? q",
        f"{number} {left}; keys {digits} {tab}{c}r m ? q",
        f"{number} {left} {digits} {tab}{c}? q",
    ]


def unread_status(number: str, left: str, lines_left: int) -> list[str]:
    """Return wordings for a question that was not shown to its end: its keys do not answer yet."""
    more = f"{lines_left} more line{'' if lines_left == 1 else 's'}"
    return [
        f"{number}: {left} left; {more}: Space shows them, then the keys answer; ?: more keys; q quits",
        f"{number} {left}; {more}: Space; Tab r m ? q",
        f"{number} {left} Space +{lines_left} Tab r ? q",
    ]


def hidden_status(number: str, left: str) -> list[str]:
    """Return wordings for a question that is not on the screen any more."""
    return [
        f"{number}: {left} left; it has scrolled away: Space or an answer's key shows it again; ?: more keys; q quits",
        f"{number} {left}; scrolled away: Space; Tab ? q",
        f"{number} {left} Space Tab ? q",
    ]


def mute_status(source: str) -> list[str]:
    """Return wordings of the menu that mutes a sender."""
    return [
        f"Mute {visible(source)}: 1 for 15 minutes, 2 for an hour, 3 until tomorrow, 4 for good; Esc leaves",
        "Mute it: 1 15 min, 2 hour, 3 day, 4 ever",
        "Mute: 1 15m 2 1h 3 day 4 ever",
    ]


def refuse_status(source: str, number: str, open_count: int) -> list[str]:
    """Return wordings of the menu that refuses."""
    return [
        f"Refuse: r only {number}, a all {open_count} of {visible(source)}; Esc leaves",
        f"Refuse: r only {number}, a all {open_count}; Esc",
        f"r {number}, a all; Esc",
    ]


def hold_status(choice: str, number: str) -> list[str]:
    """Return wordings that ask for the second press."""
    return [
        f"{number}: really {visible(choice)}? Press 1 again after a second; any other key leaves",
        f"{number} really? 1 again; Esc leaves",
    ]
