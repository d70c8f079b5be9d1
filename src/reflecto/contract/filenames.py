"""Which names a document may have: the server refuses others, and a device trusts no server. Source: api.md."""

import re
import unicodedata
from typing import Final

from reflecto.contract.limits import FILENAME_MAX_CHARS

# Plain text that a tap shows, and never runs or renders: no html, svg, js, xhtml, bat, ps1, sh, desktop, url, …
# fmt: off
ALLOWED_EXTENSIONS: Final = frozenset({
    "txt", "md", "log", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "ini", "conf", "xml", "diff", "patch",
    "sql", "tex", "ics", "rst", "adoc", "org", "srt", "vtt", "properties", "lock", "env", "tf", "hcl", "nix", "cmake",
    "c", "h", "cc", "cpp", "hpp", "cs", "go", "rs", "java", "kt", "kts", "swift", "m", "rb", "php", "pl", "lua", "r",
    "jl", "hs", "ml", "ex", "exs", "erl", "clj", "scala", "dart", "zig", "nim", "py", "pyi", "ts", "tsx", "jsx", "vue",
    "css", "scss", "less", "proto", "graphql",
})
# fmt: on
# Windows opens devices under these names, whatever the extension.
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_FORBIDDEN_CHARS: Final = frozenset('/\\<>:"|?*')
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})  # Unicode's control, format, line and paragraph
# What no system takes in a name, controls, and the commonest of the invisible, for a regular expression.
_NOT_IN_NAMES: Final = (
    r'/\\<>:"|?*\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff'
)


def is_safe_filename(name: str) -> bool:
    """Tell whether `name` is one path segment that is safe on every platform and ends in an allowed extension.

    Control and invisible format characters are refused too: they can make `gpj.exe` look like `exe.jpg`.
    """
    stem, _, extension = name.rpartition(".")
    return (
        bool(stem)
        and len(name) <= FILENAME_MAX_CHARS
        and extension.lower() in ALLOWED_EXTENSIONS
        and not name.startswith((".", " "))
        and not any(has_no_place_in_name(char) for char in name)
        and not _RESERVED.fullmatch(name.partition(".")[0].strip())
    )


def has_no_place_in_name(char: str) -> bool:
    """Tell whether the character is special on some platform, or invisible."""
    return char in _FORBIDDEN_CHARS or unicodedata.category(char) in _HIDDEN_CATEGORIES


def filename_pattern() -> str:
    """Return as much of `is_safe_filename` as a schema's regular expression can say."""
    endings = "|".join(map(_in_any_case, sorted(ALLOWED_EXTENSIONS)))
    return rf"^[^. {_NOT_IN_NAMES}][^{_NOT_IN_NAMES}]*\.({endings})$"


def _in_any_case(word: str) -> str:
    return "".join(f"[{char.upper()}{char}]" if char.isalpha() else char for char in word)
