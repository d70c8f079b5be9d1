"""An agent's text as the phone shows it: nothing is hidden, and the text says what is left out.

An agent's text may have been written by somebody who wants something approved.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

from reflecto.contract.limits import QUESTION_MAX_CHARS
from reflecto.contract.visibility import is_undrawn, visible

BAR: Final = "│ "
LINE_MAX_CHARS: Final = 80  # of a field that stands beside its name; a longer one gets lines of its own
_HEAD_LINE_MAX_CHARS: Final = 150  # where not everything fits
_HEAD_SHARE: Final = 0.65  # of what is left for a text that is cut; its end often matters as much as its beginning
_DIGEST_CHARS: Final = 16
_LOOKED_AT: Final = frozenset(
    {"Zs", "Mn", "Me", "Co", "Cn"}
)  # spaces, marks, which stack, and what has no character yet
_UNUSUAL_SPACES: Final = re.compile("([\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+)")  # Zs, but for the usual one
_STATEMENTS_CHARS: Final = 160  # room for the two that tell of a cut, and for what the cut makes visible at its edges


class Shown(NamedTuple):
    """A question's text; `whole` unless something had to be left out, which its first line then says."""

    text: str
    whole: bool


def shown(text: str) -> str:
    """Return `text` with hidden characters and unusual spaces written out by their code points; lines stay."""
    if _is_plain(text, but="\n\t"):
        return text
    return "\n".join("\t".join(map(_shown, line.split("\t"))) for line in text.split("\n"))


def framed(text: str) -> str:
    """Return text of several lines with a bar before each, so that none of them can pass for a field of its own."""
    return text if "\n" not in text else BAR + text.replace("\n", f"\n{BAR}")


def shown_line(text: str) -> str:
    """Return `text` on one line, so that it cannot pass for lines of its own.

    What is longer than any question is cut before it is looked at: an agent's text may have millions of characters.
    """
    over = len(text) - QUESTION_MAX_CHARS
    return _shown(text) if over <= 0 else f"{_shown(text[:QUESTION_MAX_CHARS])} … {over:,} more characters"


def shown_end(text: str, max_bytes: int) -> str:
    """Return `text` on one line in at most `max_bytes` of UTF-8: all of it, or an ellipsis and its end.

    Of a path, the end tells most.
    """
    end = text[-max_bytes:] if max_bytes > 0 else ""
    line = _shown(end)
    if len(end) == len(text) and len(line.encode()) <= max_bytes:
        return line
    return "…" + line.encode()[max(0, len(line.encode()) - max_bytes + len("…".encode())) :].decode(errors="ignore")


def without_lines(text: str) -> str:
    """Return `text` with its line feeds written out, so that it is one line, and nothing else looked at."""
    return text.replace("\n", _written_out("\n"))


def _shown(text: str) -> str:
    if _is_plain(text):
        return text
    parts = _UNUSUAL_SPACES.split(text)  # every second one is such spaces
    return "".join(
        "".join(map(_written_out, part)) if number % 2 else visible(part) for number, part in enumerate(parts) if part
    )


def _is_plain(text: str, but: str = "") -> bool:
    """Tell whether nothing in the text has to be written out: of most texts, and without a look at each character."""
    return (text.isascii() and text.isprintable()) or all(map(_is_plain_char, set(text).difference(but)))


@lru_cache(maxsize=4096)
def _is_plain_char(char: str) -> bool:
    return char == " " or (unicodedata.category(char) not in _LOOKED_AT and not is_undrawn(char))


def _written_out(char: str) -> str:
    return f"\u2039U+{ord(char):04X}\u203a"


def lay_out(head: Sequence[str], fields: Mapping[str, Any], *, last: Sequence[str] = ()) -> Shown:
    """Return a question of at most 1000 characters: the lines of `head`, then every field with its name.

    Short fields come first, then those that have lines of their own, at the end the ones named in `last`. What does
    not fit is cut out of the middle: the first line says so, and the gap says how much, with the first 16 hex digits
    of the SHA-256 of all fields as compact JSON with sorted keys (`jq -cjS`).
    """
    lines, blocks, chars = [], [], 0
    for name in sorted(fields, key=lambda name: last.index(name) if name in last else -1):
        value = fields[name]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        label = without_lines(name)
        chars += len(label) + len(text)
        # Written out a text only grows: one that is long as it came, or beside others, need not be walked to know that.
        is_long = name in last or len(text) > LINE_MAX_CHARS or "\n" in text or chars > QUESTION_MAX_CHARS
        if is_long or len(shown(text)) > LINE_MAX_CHARS:
            blocks.append(f"{label}:\n{BAR}" + text.replace("\n", f"\n{BAR}"))
        else:
            lines.append(f"{label}: {text}")
    body = "\n".join([*lines, *blocks])
    if sum(map(len, head)) + len(body) <= QUESTION_MAX_CHARS:
        whole = "\n".join(filter(None, [*map(_shown, head), shown(body)]))
        if len(whole) <= QUESTION_MAX_CHARS:
            return Shown(whole, whole=True)
    return Shown(_cut([_clip_line(line) for line in head], body, _digest(fields)), whole=False)


def clip_bytes(text: str, max_bytes: int) -> str:
    """Return `text`, or its beginning in at most `max_bytes` of UTF-8 with how much is missing."""
    text = text.strip()
    unseen = max(0, len(text) - max_bytes)  # too far behind to be shown, and not looked at
    safe = shown(text[:max_bytes]).strip() or "-"
    if not unseen and len(safe.encode()) <= max_bytes:
        return safe
    for kept in range(min(len(safe), max_bytes), -1, -1):
        clipped = f"{safe[:kept].rstrip()} … {len(safe) + unseen - kept:,} more characters"
        if len(clipped.encode()) <= max_bytes:
            return clipped
    return "…"


def _cut(head: Sequence[str], body: str, digest: str) -> str:
    """Take out the middle of `body`, as much as is needed to make the question fit."""
    room = QUESTION_MAX_CHARS - len("\n".join(["", *head, ""])) - _STATEMENTS_CHARS
    if len(body) <= room and len(text := shown(body)) <= room:
        return "\n".join(["NOT WHOLE: the first lines are cut.", *head, text])
    front, front_chars = _fitting(lambda count: body[:count], int(room * _HEAD_SHARE))
    back, back_chars = _fitting(lambda count: body[max(0, len(body) - count) :], room - int(room * _HEAD_SHARE))
    missing = len(body) - front_chars - back_chars
    return "\n".join(
        [
            f"NOT WHOLE: {missing:,} of {len(body):,} characters are left out.",
            *head,
            front,
            f"[… {missing:,} more characters, sha256 {digest} …]",
            back if back.startswith(BAR) else BAR + back,
        ]
    )


def _fitting(part: Callable[[int], str], room: int) -> tuple[str, int]:
    """Return as long a part as is shown in `room` characters, shown, and how many characters of the text it is."""
    if len(text := shown(part(room))) <= room:  # the usual: nothing hidden, and one look is enough
        return text, room
    low, high = 0, room - 1
    while low < high:
        middle = (low + high + 1) // 2
        if len(shown(part(middle))) <= room:
            low = middle
        else:
            high = middle - 1
    return shown(part(low)), low


def _clip_line(line: str) -> str:
    text, chars = _fitting(lambda count: line[:count], _HEAD_LINE_MAX_CHARS)
    over = len(line) - chars
    return text if over <= 0 else f"{text} … {over:,} more characters"


def _digest(fields: Mapping[str, Any]) -> str:
    compact = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
