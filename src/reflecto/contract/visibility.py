"""What a person sees of a text, and what of it is drawn as nothing."""

import unicodedata
from typing import Final

# Drawn as nothing although Unicode files them under letters, marks or symbols.
BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# Not those without a character yet, or with a private one: a newer system than this one may draw them.
_UNDRAWN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def seen_of(text: str) -> str:
    """Return `text` reduced to what tells it apart for an eye: equal results cannot be told apart on a screen.

    Nothing invisible, NFC, and no more than one space in a row; empty where there is nothing to see.
    """
    drawn = "".join(char for char in text if char.isspace() or not _is_undrawn(char))
    return " ".join(unicodedata.normalize("NFC", drawn).split())


def _is_undrawn(char: str) -> bool:
    return (
        char in BLANKS
        or unicodedata.category(char) in _UNDRAWN_CATEGORIES
        or any(ord(char) in selectors for selectors in VARIATION_SELECTORS)
    )
