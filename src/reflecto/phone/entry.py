"""What the owner is in the middle of: typing a number or a word, pressing again, or choosing from a menu. Pure.

Times are monotonic seconds. An entry belongs to one question, and a key that is none of its own leaves it.
"""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from reflecto.contract.limits import COMMENT_MAX_CHARS
from reflecto.contract.visibility import visible
from reflecto.terminal.columns import cell_width

HOLD_SECONDS: Final = 1.0  # between the two presses; a key that is held down repeats itself, and comes through as well
HOLD_ENDS_SECONDS: Final = 10.0
_ENTER: Final = frozenset({"\r", "\n"})
_ERASE: Final = frozenset({"\x7f", "\b"})
_ESCAPE: Final = "\x1b"


class NumberTyped(NamedTuple):
    """Two digits, and Enter."""

    digits: str


class WordTyped(NamedTuple):
    """A comment, and Enter."""

    text: str


class MuteChosen(NamedTuple):
    """One of the menu's times, `1` to `4`."""

    key: str


Done = NumberTyped | WordTyped | MuteChosen | Literal["really", "refuse", "refuse all"]


class Typed(NamedTuple):
    """What a key makes of an entry: the entry that goes on, None if it is left or done."""

    entry: "Entry | None"
    done: Done | None = None


class Entry(Protocol):
    """What keys go to while it is there."""

    def typed(self, text: str, now: float) -> Typed:
        """Take what one read from the keyboard had."""


@dataclass(frozen=True, slots=True)
class NumberEntry:
    """Two digits are awaited, then Enter."""

    digits: str = ""

    def typed(self, text: str, now: float) -> Typed:
        """Take a digit, an erasing key, or Enter."""
        del now
        if text in _ENTER:
            return Typed(None, NumberTyped(self.digits)) if len(self.digits) == 2 else Typed(self)
        if text in _ERASE:
            return Typed(NumberEntry(self.digits[:-1]))
        if text.isascii() and text.isdigit():
            return Typed(NumberEntry((self.digits + text)[:2]))
        return Typed(None)

    def status(self) -> str:
        """Return what the status line says."""
        return f"Its number: {self.digits:_<2}  {'Enter sends' if len(self.digits) == 2 else 'Esc leaves'}"


@dataclass(frozen=True, slots=True)
class WordEntry:
    """A comment is being typed, then Enter."""

    text: str = ""

    def typed(self, text: str, now: float) -> Typed:
        """Take characters, also pasted ones, an erasing key, or Enter."""
        del now
        if text in _ENTER:
            return Typed(None, WordTyped(self.text.strip())) if self.text.strip() else Typed(self)
        if text in _ERASE:
            return Typed(WordEntry(self.text[:-1]))
        if text.startswith(_ESCAPE):  # an arrow key begins so, too
            return Typed(None if text == _ESCAPE else self)
        typed = "".join(" " if char.isspace() else char for char in text if char.isspace() or char.isprintable())
        return Typed(WordEntry((self.text + typed)[:COMMENT_MAX_CHARS]))

    def status(self, columns: int | None) -> str:
        """Return what the status line says: the end of the comment, which is where it grows."""
        ends = "  Enter: go on, Esc: leave" if columns is None or columns >= 60 else "  Enter/Esc"
        room = (columns or 80) - len(f"Say: …_{ends}") - 1
        shown = visible(self.text)
        if cell_width(shown) > room:
            while cell_width(shown) > room:
                shown = shown[1:]
            shown = f"…{shown}"
        return f"Say: {shown}_{ends}"


@dataclass(frozen=True, slots=True)
class HoldEntry:
    """The first choice was pressed once, at `since`; the second press counts a second later."""

    since: float

    def typed(self, text: str, now: float) -> Typed:
        """Take the second press; one that comes too late is a first one again."""
        if text != "1":
            return Typed(None)
        if now - self.since > HOLD_ENDS_SECONDS:
            return Typed(HoldEntry(now))
        return Typed(None, "really") if now - self.since >= HOLD_SECONDS else Typed(self)


@dataclass(frozen=True, slots=True)
class RefuseMenu:
    """`r`: this question, `a`: all open ones of its sender."""

    def typed(self, text: str, now: float) -> Typed:
        """Take one of the two keys."""
        del now
        if text in {"r", "R"}:
            return Typed(None, "refuse")
        return Typed(None, "refuse all" if text in {"a", "A"} else None)


@dataclass(frozen=True, slots=True)
class MuteMenu:
    """For how long the sender is to be silent."""

    def typed(self, text: str, now: float) -> Typed:
        """Take one of the four keys."""
        del now
        return Typed(None, MuteChosen(text) if text in {"1", "2", "3", "4"} else None)
