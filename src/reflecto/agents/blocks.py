"""The blocks of a question's details, made of an agent's text: whole up to 48 KiB, and above that it says what is not.

An agent's text may have been written by somebody who wants something approved. So it is in blocks of its own, which the
phone draws, and what cannot be seen is written out.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from reflecto.agents.diffs import Line, unified
from reflecto.agents.patches import as_hunks
from reflecto.agents.shown import shown, shown_line
from reflecto.contract.limits import (
    BLOCK_LABEL_MAX_BYTES,
    DETAILS_MAX_BLOCKS,
    DETAILS_MAX_BYTES,
    FIELD_NAME_MAX_BYTES,
    FIELD_VALUE_MAX_BYTES,
    FIELDS_MAX,
)

_PAIRS_MAX: Final = 2 * FIELDS_MAX - 1  # two blocks of them; the last place tells of a cut

_PIECE_MAX_CHARS: Final = 1_000  # of a line that has to be cut
_HEAD_SHARE: Final = 0.65  # of what is left for a text that is cut; its end often matters as much as its beginning
_GAP_BYTES: Final = 300  # for the words between the two parts of a text that is cut, and the head of the second
_DIGEST_CHARS: Final = 16

Block = dict[str, Any]


class Long(NamedTuple):
    """A text with a block of its own.

    `pieces` are where it may be cut, `render` makes text of some of them, with `joint_bytes` more for each.
    """

    kind: str
    label: str
    pieces: Sequence[Any]
    render: Callable[[Sequence[Any]], str]
    joint_bytes: int = 0
    language: str | None = None

    def block(self, text: str, part: str = "") -> Block:
        """Return the block with this text; `part` is said behind the label."""
        label = clip_end(self.label, BLOCK_LABEL_MAX_BYTES - len(part.encode())) + part
        language = {"language": self.language} if self.language else {}
        return {"kind": self.kind} | ({"label": label} if label else {}) | language | {"text": text}


class Details(NamedTuple):
    """The blocks, and how many characters of the agent's text they have not."""

    blocks: tuple[Block, ...]
    missing_chars: int = 0


def text_block(label: str, text: str, kind: str = "text", language: str | None = None) -> Long:
    """Return text or code with a block of its own."""
    return Long(kind, label, _pieces_of(text), _joined, language=language)


def diff_block(path: str, lines: Sequence[Line]) -> Long:
    """Return what changes in a file, with its path as the label."""
    return Long("diff", path, lines, lambda some: shown(unified(some)), len("+\\n"))


def patch_block(path: str, body: Sequence[str]) -> Long:
    """Return what a patch without line numbers changes in a file."""
    return Long("diff", path, body, lambda some: shown("\n".join(as_hunks(some))), len("\\n"))


def details_of(longs: Sequence[Long], fields: Iterable[tuple[str, str]], given: Mapping[str, Any]) -> Details:
    """Return the blocks: first the long texts, then the fields; a value too long for one has a block of its own.

    What does not fit into 48 KiB is cut out of the middle of the longest texts. A field then has the first 16 hex
    digits of the SHA-256 of `given`, all that the agent gave, as compact JSON with sorted keys (`jq -cjS`).
    """
    longs, pairs = list(longs), []
    for name, value in fields:
        line = shown_line(value)
        if "\n" in value or len(line.encode()) > FIELD_VALUE_MAX_BYTES:
            longs.append(text_block(shown_line(name), value))
        else:
            said = line if line.strip() else json.dumps(line)  # a value that shows nothing, in quotes
            pairs.append({"name": clip_end(shown_line(name), FIELD_NAME_MAX_BYTES) or "-", "value": said})
    if rest := pairs[_PAIRS_MAX:]:
        longs.append(text_block("the rest", "\n".join(f"{pair['name']}: {pair['value']}" for pair in rest)))
    pairs = pairs[:_PAIRS_MAX]
    longs = _merged([long for long in longs if long.pieces], DETAILS_MAX_BLOCKS - 2)
    room = DETAILS_MAX_BYTES - size_of(_fields(pairs))
    if sum(map(_chars_of, longs)) <= room:
        blocks = [long.block(long.render(long.pieces)) for long in longs]
        if size_of(blocks) <= room:
            return Details((*blocks, *_fields(pairs)))
    return _cut(longs, _fields([*pairs, {"name": "SHA-256 of all of it", "value": f"{_digest(given)}…"}]))


def clip_end(text: str, max_bytes: int) -> str:
    """Return `text`, or an ellipsis and its end in at most `max_bytes` of UTF-8: of a path the end tells most."""
    if len(text.encode()) <= max_bytes:
        return text
    return "…" + text.encode()[3 - max_bytes :].decode(errors="ignore")


def size_of(blocks: Sequence[Block]) -> int:
    """Return how many bytes the details are as canonical JSON; which differs from this in its order only."""
    return _size(list(blocks))


def _cut(longs: Sequence[Long], fields: Sequence[Block]) -> Details:
    """Cut the longest texts, so much that everything fits."""
    room = limit = DETAILS_MAX_BYTES - size_of(fields)
    while True:
        share = _share([min(_chars_of(long), DETAILS_MAX_BYTES) + _GAP_BYTES for long in longs], room)
        missing, blocks = 0, list[Block]()
        # Two parts and the words between them are three blocks: where there is no place for that, ends are not shown.
        places = DETAILS_MAX_BLOCKS - len(fields) - len(longs)
        for long in longs:
            cut, left_out = _cut_one(long, share, parted=places >= 2)
            places -= len(cut) - 1
            missing += left_out
            blocks += cut
        over = size_of(blocks) - limit
        if over <= 0:
            return Details((*blocks, *fields), missing)
        room -= over + 1


def _cut_one(long: Long, room: int, *, parted: bool) -> tuple[list[Block], int]:
    """Return the text in at most about `room` bytes, and how many characters are not in it."""
    total = _chars_of(long)
    if total + _GAP_BYTES <= room:
        text = long.render(long.pieces)
        if _size(text) + _GAP_BYTES <= room:
            return [long.block(text)], 0
    front = _fitting(long, long.pieces, int((room - _GAP_BYTES) * (_HEAD_SHARE if parted else 1)))
    rest = long.pieces[len(front) :]
    back = _fitting(long, rest[::-1], int((room - _GAP_BYTES) * (1 - _HEAD_SHARE)))[::-1] if parted else []
    missing = total - sum(map(_kept_chars, (*front, *back)))
    said = f"{missing:,} of {total:,} characters are left out"
    shown_front = long.render(front)
    if not parted:
        return [long.block(shown_front or "…", f" ({said} at its end)")], missing
    blocks = [long.block(shown_front, " (its beginning)")] if front else []
    blocks.append({"kind": "text", "text": f"… {said} here …"})
    if back:
        blocks.append(long.block(long.render(back), " (its end)"))
    return blocks, missing


def _fitting(long: Long, pieces: Sequence[Any], room: int) -> list[Any]:
    """Return as many of the first pieces as take `room` bytes when shown."""
    fitting = []
    for piece in pieces:
        clipped = _clipped(piece)
        text = clipped.text if isinstance(clipped, Line) else clipped
        if len(text) > room:  # written out a text only grows
            break
        room -= _size(shown(text)) - len('""') + long.joint_bytes
        if room < 0:
            break
        fitting.append(clipped)
    return fitting


def _share(sizes: Sequence[int], room: int) -> int:
    """Return the largest part of `room` that each may take: short texts take less, and long ones share the rest."""
    left = sorted(sizes)
    while left and left[0] * len(left) <= room:
        room -= left.pop(0)
    return max(room, 0) // max(len(left), 1)


def _merged(longs: list[Long], count: int) -> list[Long]:
    """Return at most `count` texts: the last ones become one, each under its label."""
    if len(longs) <= count:
        return longs
    last = "\n\n".join(f"{long.label}:\n{long.render(long.pieces)}" for long in longs[count - 1 :])
    return [*longs[: count - 1], text_block("the rest", last)]


def _fields(pairs: Sequence[Mapping[str, str]]) -> list[Block]:
    return [
        {"kind": "fields", "fields": list(pairs[start : start + FIELDS_MAX])}
        for start in range(0, len(pairs), FIELDS_MAX)
    ]


def _pieces_of(text: str) -> list[str]:
    """Return the lines of `text` with their ends; of a long one, parts. What is too far inside to be shown is one."""
    inside = text[DETAILS_MAX_BYTES:-DETAILS_MAX_BYTES]
    outside = (text[:DETAILS_MAX_BYTES], text[-DETAILS_MAX_BYTES:]) if inside else (text, "")
    first, last = (
        [
            line[start : start + _PIECE_MAX_CHARS]
            for line in part.splitlines(keepends=True)
            for start in range(0, len(line), _PIECE_MAX_CHARS)
        ]
        for part in outside
    )
    return [*first, inside, *last] if inside else first


def _joined(pieces: Sequence[str]) -> str:
    return shown("".join(pieces))


def _clipped(piece: Any) -> Any:
    if not isinstance(piece, Line) or len(piece.text) <= _PIECE_MAX_CHARS:
        return piece
    over = len(piece.text) - _PIECE_MAX_CHARS
    return piece._replace(text=f"{piece.text[:_PIECE_MAX_CHARS]} … {over:,} more characters")


def _chars_of(long: Long) -> int:
    return sum(len(piece.text) + 1 if isinstance(piece, Line) else len(piece) for piece in long.pieces)


def _kept_chars(piece: Any) -> int:
    if not isinstance(piece, Line):
        return len(piece)
    return min(len(piece.text), _PIECE_MAX_CHARS) + 1


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _digest(given: Mapping[str, Any]) -> str:
    compact = json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
