"""How many columns of a terminal a text takes, and how it is broken or cut to fit. It must be `visible` already."""

import unicodedata
from typing import Final

_EMOJI_STYLE: Final = "\ufe0f"
_JOINER: Final = "\u200d"
_NON_JOINER: Final = "\u200c"
_WITHOUT_WIDTH: Final = frozenset({_EMOJI_STYLE, _JOINER, _NON_JOINER})


def cell_width(text: str) -> int:
    """Return how many terminal columns `text` (already `visible`) takes."""
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if char in _WITHOUT_WIDTH or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(text: str, columns: int | None) -> list[str]:
    """Break `text` into lines of at most `columns`, between words where it can be; every character is kept.

    Without `columns` only its own line breaks count.
    """
    lines = text.split("\n")
    if columns is None:
        return lines
    return [piece for line in lines for piece in _wrap_line(line, max(columns, 2))]


def _wrap_line(line: str, columns: int) -> list[str]:
    pieces = []
    while (end := _fitting(line, columns)) < len(line):
        after_space = line.rfind(" ", 0, end) + 1
        cut = after_space or max(end, 1)
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line]


def _fitting(line: str, columns: int) -> int:
    """Return how many characters fit."""
    used = 0
    for index, char in enumerate(line):
        used += _cells(char)
        if used > columns:
            return index
    return len(line)


def clip(text: str, columns: int) -> str:
    """Return what fits. For the status line only: a question is never cut."""
    return text[: _fitting(text, max(columns, 0))]
