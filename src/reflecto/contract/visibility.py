"""What a person sees of a text, what of it is drawn as nothing, and how that is written out to be seen all the same.

docs/protocol.md "What is visible" has the rule. Its other implementation is
`web/packages/core/src/text.ts`; both run `tests/vectors/text.json`.
"""

import unicodedata
from functools import lru_cache
from typing import Final

# Drawn as nothing although Unicode files them under letters, marks or symbols.
BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159")
VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# Set aside for what is never drawn, with or without a character yet.
_IGNORABLE: Final = (range(0x2060, 0x2070), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))
# Not those without a character yet, or with a private one: a newer system than this one may draw them.
_UNDRAWN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_UNASSIGNED: Final = frozenset({"Co", "Cn"})  # what would be drawn depends on the system
_EMOJI_STYLE: Final = "\ufe0f"
_JOINER: Final = "\u200d"
_NON_JOINER: Final = "\u200c"
_KEYCAP: Final = "\u20e3"
_TAB: Final = "    "
MARKS_MAX: Final = 4  # on one letter: as many as pointed Hebrew needs with its accents; a flood covers other lines
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


def seen_of(text: str) -> str:
    """Return `text` reduced to what tells it apart for an eye: equal results cannot be told apart on a screen.

    Nothing invisible, NFC, and no more than one space in a row; empty where there is nothing to see.
    """
    drawn = "".join(char for char in text if _is_white(char) or not is_undrawn(char))
    return " ".join(unicodedata.normalize("NFC", drawn).split())


def _is_white(char: str) -> bool:
    return char.isspace() and char not in "\x1c\x1d\x1e\x1f"  # Unicode calls these controls


@lru_cache(maxsize=4096)  # of the characters in use: a question asks for each of its text
def is_undrawn(char: str) -> bool:
    """Tell whether nothing is drawn for this character, by itself or at all."""
    point = ord(char)
    return (
        char in BLANKS
        or unicodedata.category(char) in _UNDRAWN_CATEGORIES
        or any(point in selectors for selectors in (*VARIATION_SELECTORS, *_IGNORABLE))
    )


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return `text` with every control, invisible and bidirectional character written out by its code point.

    With `keep_lines` line breaks stay and a tab is four spaces; without, for names, both are written out. Joiners and
    style selectors stay where they make one sign or are spelling, and of the marks on one letter the first four.
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
