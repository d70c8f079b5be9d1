"""Text from others, made safe to print: nothing hidden, nothing that moves the cursor, nothing cut."""

import unicodedata
from datetime import datetime
from typing import Final

from reflecto.contract.visibility import BLANKS, VARIATION_SELECTORS

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_EMOJI_STYLE: Final = "\ufe0f"
_JOINER: Final = "\u200d"


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return `text` with every control, invisible and bidirectional character written out by its code point.

    With `keep_lines` line breaks stay. Joiners and style selectors stay inside emoji only.
    """
    if keep_lines:
        text = text.replace("\r\n", "\n")
    return "".join(_shown(text, index, keep_lines=keep_lines) for index in range(len(text)))


def _shown(text: str, index: int, *, keep_lines: bool) -> str:
    char = text[index]
    if char == "\n" and keep_lines:
        return char
    if _is_hidden(char) and not _joins_emoji(text, index):
        return f"\u2039U+{ord(char):04X}\u203a"  # single angle quotes
    return " " if unicodedata.category(char) == "Zs" else char


def _is_hidden(char: str) -> bool:
    return (
        char in BLANKS
        or unicodedata.category(char) in _INVISIBLE_CATEGORIES
        or any(ord(char) in selectors for selectors in VARIATION_SELECTORS)
    )


def _joins_emoji(text: str, index: int) -> bool:
    before = text[index - 1] if index else ""
    if text[index] == _EMOJI_STYLE:
        return _is_pictograph(before)
    after = text[index + 1 : index + 2]
    return text[index] == _JOINER and (before == _EMOJI_STYLE or _is_pictograph(before)) and _is_pictograph(after)


def _is_pictograph(char: str) -> bool:
    return char != "" and char not in BLANKS and unicodedata.category(char) in {"So", "Sk"}


def cell_width(text: str) -> int:
    """Return how many terminal columns `text` (already `visible`) takes."""
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if char in {_EMOJI_STYLE, _JOINER} or unicodedata.category(char) in {"Mn", "Me"}:
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


def duration(seconds: float) -> str:
    """Return a time span the way a clock counts it down: `9:41`, or `1:02:03` from an hour on."""
    whole = max(0, int(-(-seconds // 1)))  # rounded up: 0:00 means over
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def local_time(unix: int) -> str:
    """Return a moment as this machine's clock shows it."""
    try:
        return datetime.fromtimestamp(unix).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # further away than calendars go
        return f"Unix time {unix}"
