"""Text from others, made safe to print: nothing hidden, nothing that moves the cursor, nothing cut."""

import unicodedata
from datetime import datetime
from typing import Final

from reflecto.contract.visibility import is_undrawn

_UNASSIGNED: Final = frozenset({"Co", "Cn"})  # what would be drawn depends on the system
_EMOJI_STYLE: Final = "\ufe0f"
_JOINER: Final = "\u200d"
_NON_JOINER: Final = "\u200c"
_KEYCAP: Final = "\u20e3"
_TAB: Final = "    "
MARKS_MAX: Final = 6  # on one letter; the languages that stack most, Tibetan and pointed Hebrew, need as many
# In these scripts joiners and non-joiners choose between forms of letters: they are spelling, not tricks.
_JOINING: Final = (range(0x0600, 0x0780), range(0x0860, 0x0E00))
_PICTOGRAPHS: Final = (
    *(range(point, point + 1) for point in (0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x24C2, 0x3030, 0x303D)),
    *(range(point, point + 1) for point in (0x3297, 0x3299)),
    range(0x2190, 0x2200),
    range(0x2300, 0x2400),
    range(0x25A0, 0x27C0),
    range(0x2900, 0x2980),
    range(0x2B00, 0x2C00),
    range(0x1F000, 0x1FB00),
)


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return `text` with every control, invisible and bidirectional character written out by its code point.

    With `keep_lines` line breaks stay and a tab is four spaces; without, for names, both are written out. Joiners and
    style selectors stay where they make one sign or are spelling, and of the marks on one letter the first six.
    """
    if keep_lines:
        text = text.replace("\r\n", "\n").replace("\t", _TAB)
    shown = []
    marks = 0
    for index, char in enumerate(text):
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if char == "\n" and keep_lines:
            shown.append(char)
        elif (_is_hidden(char) and not _is_expected(text, index)) or marks > MARKS_MAX:
            shown.append(f"\u2039U+{ord(char):04X}\u203a")  # single angle quotes
        else:
            shown.append(" " if unicodedata.category(char) == "Zs" else char)
    return "".join(shown)


def _is_hidden(char: str) -> bool:
    return is_undrawn(char) or unicodedata.category(char) in _UNASSIGNED


def _is_expected(text: str, index: int) -> bool:
    char, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    if char == _EMOJI_STYLE:
        return _is_pictograph(before) or (before in set("0123456789#*") and after == _KEYCAP)
    if char == _JOINER and (before == _EMOJI_STYLE or _is_pictograph(before)) and _is_pictograph(after):
        return True
    return char in {_JOINER, _NON_JOINER} and _is_joining(before) and _is_joining(after)


def _is_joining(char: str) -> bool:
    return char != "" and _is_in(char, _JOINING) and unicodedata.category(char)[0] in "LM"


def _is_pictograph(char: str) -> bool:
    return char != "" and _is_in(char, _PICTOGRAPHS)


def _is_in(char: str, ranges: tuple[range, ...]) -> bool:
    return any(ord(char) in points for points in ranges)


def cell_width(text: str) -> int:
    """Return how many terminal columns `text` (already `visible`) takes."""
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if char in {_EMOJI_STYLE, _JOINER, _NON_JOINER} or unicodedata.category(char) in {"Mn", "Me"}:
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
