"""Which names a document may have: the server refuses others, and a device trusts no server. Source: api.md."""

import re
import unicodedata
from typing import Final

from reflecto.contract.limits import FILENAME_EXTENSIONS, FILENAME_MAX_CHARS

# Windows opens devices under these names, whatever the extension.
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_FORBIDDEN_CHARS: Final = frozenset('/\\<>:"|?*')
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})  # Unicode's control, format, line and paragraph


def is_safe_filename(name: str) -> bool:
    """Tell whether `name` is one path segment that is safe on every platform and ends in an allowed extension.

    Control and invisible format characters are refused too: they can make `gpj.exe` look like `exe.jpg`.
    """
    stem, _, extension = name.rpartition(".")
    return (
        bool(stem)
        and len(name) <= FILENAME_MAX_CHARS
        and extension.lower() in FILENAME_EXTENSIONS
        and not name.startswith((".", " "))
        and not any(has_no_place_in_name(char) for char in name)
        and not _RESERVED.fullmatch(name.partition(".")[0].strip())
    )


def has_no_place_in_name(char: str) -> bool:
    """Tell whether the character is special on some platform, or invisible."""
    return char in _FORBIDDEN_CHARS or unicodedata.category(char) in _HIDDEN_CATEGORIES
