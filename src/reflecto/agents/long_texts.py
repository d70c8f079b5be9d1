"""An agent's long text: where it may be cut, and the blocks that it becomes, whole or with its middle left out. No I/O.

A text may have millions of characters. What cannot be shown is not looked at, and of what is shown each character is
looked at twice: to know how much room it takes, and to show it.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from json import dumps
from typing import Any, Final

from reflecto.agents.diffs import Line, follows, unified
from reflecto.agents.patches import as_hunks
from reflecto.agents.shown import shown, shown_end
from reflecto.contract.limits import BLOCK_LABEL_MAX_BYTES, DETAILS_MAX_BYTES

_PIECE_MAX_CHARS: Final = 1_000  # of a line that has to be cut
_HEAD_SHARE: Final = 0.65  # of what is left for a text that is cut; its end often matters as much as its beginning
_HUNK_HEAD_BYTES: Final = 48  # "@@ -1234567,12345 +1234567,12345 @@\n"
_AT_ITS_BEGINNING: Final = " (its beginning)"
_AT_ITS_END: Final = " (its end)"

Block = dict[str, Any]


class LongText:
    """A text of `total_chars` with a block of its own.

    `split` returns the pieces between which it may be cut: texts, or lines of a diff. `write` makes one text of some of
    them, with `joint_bytes` for each beside what it says.
    """

    def __init__(
        self,
        kind: str,
        label: str,
        total_chars: int,
        split: Callable[[], Sequence[Any]],
        write: Callable[[Sequence[Any]], str],
        *,
        joint_bytes: int = 0,
        language: str | None = None,
    ) -> None:
        self.label = label
        self.total_chars = total_chars
        self._kind = kind
        self._split = split
        self._write = write
        self._joint_bytes = joint_bytes
        self._language = language
        self._shown: str | None = None
        self._sizes: dict[int, int] = {}

    @cached_property
    def _pieces(self) -> Sequence[Any]:
        return self._split()

    def text(self) -> str:
        """Return all of it as it came."""
        return self._write(self._pieces)

    def whole(self, max_bytes: int) -> Block | None:
        """Return the block with all of the text; None if it takes more than `max_bytes`, as JSON."""
        if self.total_chars > max_bytes:  # written out a text only grows
            return None
        if self._shown is None:
            text = self.text()
            if len(text.encode(errors="surrogatepass")) > max_bytes:
                return None
            self._shown = shown(text)
        block = self._block(self._shown)
        return block if json_bytes(block) <= max_bytes else None

    def cut(self, max_bytes: int, *, is_parted: bool) -> tuple[list[Block], int]:
        """Return the text in about `max_bytes`, and how many of its characters are left out.

        With `is_parted` its end is shown too, which takes three blocks; without, only its beginning.
        """
        if whole := self.whole(max_bytes):
            return [whole], 0
        room = max_bytes - self._frame_bytes()
        count = len(self._pieces)
        front = self._fitting(range(count), int(room * (_HEAD_SHARE if is_parted else 1)))
        back = self._fitting(range(count - 1, front - 1, -1), int(room * (1 - _HEAD_SHARE))) if is_parted else 0
        first = [_clipped(piece) for piece in self._pieces[:front]]
        last = [_clipped(piece) for piece in self._pieces[count - back :]]
        kept = (*self._pieces[:front], *self._pieces[count - back :])
        missing = self.total_chars - sum(map(_kept_chars, kept))
        said = f"{missing:,} of {self.total_chars:,} characters are left out"
        if not is_parted:
            return [self._block(shown(self._write(first)) or "…", f" ({said} at its end)")], missing
        blocks = [self._block(shown(self._write(first)), _AT_ITS_BEGINNING)] if first else []
        blocks.append({"kind": "text", "text": f"… {said} here …"})
        if last:
            blocks.append(self._block(shown(self._write(last)), _AT_ITS_END))
        return blocks, missing

    def _block(self, text: str, part: str = "") -> Block:
        label = shown_end(self.label, BLOCK_LABEL_MAX_BYTES - len(part)) + part
        language = {"language": self._language} if self._language else {}
        return {"kind": self._kind} | ({"label": label} if label else {}) | language | {"text": text}

    def _frame_bytes(self) -> int:
        """Return what the blocks of a text that is cut take beside the text."""
        told = f"… {self.total_chars:,} of {self.total_chars:,} characters are left out here …"
        parts = [self._block("", _AT_ITS_BEGINNING), {"kind": "text", "text": told}, self._block("", _AT_ITS_END)]
        return json_bytes(parts) + len(told) + 2 * _HUNK_HEAD_BYTES

    def _fitting(self, places: range, room: int) -> int:
        """Return how many pieces, in this order, take `room` bytes when shown."""
        for number, place in enumerate(places):
            room -= self._size_at(place)
            if room < 0:
                return number
        return len(places)

    def _size_at(self, place: int) -> int:
        if place not in self._sizes:
            piece = _clipped(self._pieces[place])
            text = piece.text if isinstance(piece, Line) else piece
            size = len(text) if len(text) > DETAILS_MAX_BYTES else json_bytes(shown(text)) - len('""')
            self._sizes[place] = size + self._joint_bytes + (_HUNK_HEAD_BYTES if self._begins_hunk(place) else 0)
        return self._sizes[place]

    def _begins_hunk(self, place: int) -> bool:
        piece = self._pieces[place]
        if isinstance(piece, Line):
            return place > 0 and not follows(self._pieces[place - 1], piece)
        return self._kind == "diff" and piece.startswith("@@")


def text_block(label: str, text: str, kind: str = "text", language: str | None = None) -> LongText:
    """Return text or code with a block of its own."""
    return LongText(kind, label, len(text), lambda: _pieces_of(text), "".join, language=language)


def diff_block(path: str, lines: Sequence[Line]) -> LongText:
    """Return what changes in a file, with its path as the label."""
    return LongText("diff", path, sum(map(_chars_of, lines)), lambda: lines, unified, joint_bytes=len("+\\n"))


def patch_block(path: str, body: Sequence[str]) -> LongText:
    """Return what a patch without line numbers changes in a file."""
    total, joint = sum(map(len, body)), len("\\n")
    return LongText("diff", path, total, lambda: body, lambda some: "\n".join(as_hunks(some)), joint_bytes=joint)


def json_bytes(value: object) -> int:
    """Return how many bytes the value is as compact JSON in UTF-8; the canonical form differs in its order only."""
    if isinstance(value, str) and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return len(value) + len('""')
    return len(dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


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


def _clipped(piece: Any) -> Any:
    if not isinstance(piece, Line) or len(piece.text) <= _PIECE_MAX_CHARS:
        return piece
    over = len(piece.text) - _PIECE_MAX_CHARS
    return piece._replace(text=f"{piece.text[:_PIECE_MAX_CHARS]} … {over:,} more characters")


def _chars_of(piece: Any) -> int:
    return len(piece.text) + 1 if isinstance(piece, Line) else len(piece)


def _kept_chars(piece: Any) -> int:
    return min(len(piece.text), _PIECE_MAX_CHARS) + 1 if isinstance(piece, Line) else len(piece)
