"""Looks for texts in files, in every form a program is likely to have written them."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path

WHOLE_MIN_BYTES = 12  # shorter texts would be found by chance, or not at all, in their base64 form


def forms_of(text: str) -> set[bytes]:
    """Return the text in UTF-8, UTF-16 and UTF-32, in hex, base64 and escaped."""
    raw = [text.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")]
    assert len(raw[0]) >= WHOLE_MIN_BYTES, text
    forms = set(raw)
    for each in raw[:3]:
        forms |= {each.hex().encode(), each.hex().upper().encode()}
        forms |= _base64_forms(each)
    escaped = json.dumps(text)[1:-1]
    backslashed = text.encode("unicode_escape")
    percent = "".join(f"%{byte:02X}" if byte > 127 or byte == 32 else chr(byte) for byte in raw[0])
    forms |= {escaped.encode(), backslashed, repr(raw[0])[2:-1].encode(), percent.encode(), percent.lower().encode()}
    return forms


def find_texts(texts: Iterable[str], places: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Return (text, place) for each text that is found in any form; a place is a name and its content."""
    forms = {text: forms_of(text) for text in texts}
    return [
        (text, name)
        for name, content in places
        for text, wanted in forms.items()
        if any(form in content for form in wanted)
    ]


def files_of(folder: Path) -> list[tuple[str, bytes]]:
    """Return every file below a folder with its content."""
    return [(path.name, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]


def _base64_forms(raw: bytes) -> set[bytes]:
    """Return what is the same in base64 wherever the bytes begin in what was encoded."""
    forms = set()
    for shift in range(3):
        standard = base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4]
        forms |= {standard, standard.replace(b"+", b"-").replace(b"/", b"_")}
    return forms
