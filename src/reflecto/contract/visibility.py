"""What a person sees of a text, and what of it is drawn as nothing. docs/protocol.md "What is visible" has the rule.

Its other implementation is `web/packages/core/src/text.ts`; both run `tests/vectors/text.json`.
"""

import unicodedata
from typing import Final

# Drawn as nothing although Unicode files them under letters, marks or symbols.
BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159")
VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# Set aside for what is never drawn, with or without a character yet.
_IGNORABLE: Final = (range(0x2060, 0x2070), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))
# Not those without a character yet, or with a private one: a newer system than this one may draw them.
_UNDRAWN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def seen_of(text: str) -> str:
    """Return `text` reduced to what tells it apart for an eye: equal results cannot be told apart on a screen.

    Nothing invisible, NFC, and no more than one space in a row; empty where there is nothing to see.
    """
    drawn = "".join(char for char in text if _is_white(char) or not is_undrawn(char))
    return " ".join(unicodedata.normalize("NFC", drawn).split())


def _is_white(char: str) -> bool:
    return char.isspace() and char not in "\x1c\x1d\x1e\x1f"  # Unicode calls these controls


def is_undrawn(char: str) -> bool:
    """Tell whether nothing is drawn for this character, by itself or at all."""
    point = ord(char)
    return (
        char in BLANKS
        or unicodedata.category(char) in _UNDRAWN_CATEGORIES
        or any(point in selectors for selectors in (*VARIATION_SELECTORS, *_IGNORABLE))
    )
