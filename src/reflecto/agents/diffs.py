"""Unified diffs of what an agent would change: bounded in work, and cut only between lines. No I/O."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

CONTEXT_LINES: Final = 3
# What matching may compare. A change that needs more is shown as all old lines, then all new ones: true, but longer.
PAIRS_MAX: Final = 100_000
NO_LINE_FEED: Final = "\\ No newline at end of file"


class Line(NamedTuple):
    """A line of a diff: `sign` is a space, `-` or `+`; `old` and `new` are its number in each text, from 1.

    Of a line that one of the texts has not, the number there is that of the next line.
    """

    sign: str
    text: str
    old: int
    new: int


def diff_lines(old: str, new: str) -> list[Line]:
    """Return what changes from `old` to `new`, with three lines around each change."""
    before, after = _lines_of(old), _lines_of(new)
    lines = []
    for tag, old_start, old_end, new_start, new_end in _grouped(before, after):
        if tag == "equal":
            lines += [
                Line(" ", text, old_start + offset + 1, new_start + offset + 1)
                for offset, text in enumerate(before[old_start:old_end])
            ]
            continue
        lines += [Line("-", text, number + 1, new_start + 1) for number, text in _numbered(before, old_start, old_end)]
        lines += [Line("+", text, old_end + 1, number + 1) for number, text in _numbered(after, new_start, new_end)]
    return lines


def unified(lines: Sequence[Line]) -> str:
    """Return the lines as the text of a unified diff; where lines between them are missing, a new hunk begins."""
    hunks: list[list[Line]] = []
    for line in lines:
        if hunks and follows(hunks[-1][-1], line):
            hunks[-1].append(line)
        else:
            hunks.append([line])
    return "\n".join(part for hunk in hunks for part in _hunk(hunk))


def follows(line: Line, following: Line) -> bool:
    """Tell whether nothing is between the two."""
    old = line.old + (line.sign != "+")
    new = line.new + (line.sign != "-")
    return (following.old, following.new) == (old, new)


def _hunk(lines: Sequence[Line]) -> Iterator[str]:
    old_count = sum(line.sign != "+" for line in lines)
    new_count = sum(line.sign != "-" for line in lines)
    # A side without lines is named by the line before it, as `diff -u` does.
    old_start, new_start = lines[0].old - (not old_count), lines[0].new - (not new_count)
    yield f"@@ -{old_start},{old_count} +{new_start},{new_count} @@"
    for line in lines:
        yield line.sign + line.text


def _grouped(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the steps from `before` to `after`, without the equal lines that are far from any change."""
    head = _common_start(before, after)
    tail = _common_start(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    steps: list[tuple[str, int, int, int, int]] = [("equal", 0, head, 0, head)] if head else []
    if old and new and _is_cheap(old, new):
        matched = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        steps += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matched]
    elif old or new:
        steps.append(("replace", head, head + len(old), head, head + len(new)))
    if tail:
        steps.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    for number, (tag, old_start, old_end, new_start, new_end) in enumerate(steps):
        if tag != "equal":
            yield tag, old_start, old_end, new_start, new_end
        elif len(steps) > 1:
            keep_start = 0 if number == 0 else CONTEXT_LINES
            keep_end = 0 if number == len(steps) - 1 else CONTEXT_LINES
            if old_end - old_start <= keep_start + keep_end:
                yield tag, old_start, old_end, new_start, new_end
                continue
            if keep_start:
                yield tag, old_start, old_start + keep_start, new_start, new_start + keep_start
            if keep_end:
                yield tag, old_end - keep_end, old_end, new_end - keep_end, new_end


def _is_cheap(old: Sequence[str], new: Sequence[str]) -> bool:
    counts = Counter(new)
    return sum(counts[line] for line in old) <= PAIRS_MAX


def _common_start(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (number for number, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )


def _lines_of(text: str) -> list[str]:
    """Return the lines of `text`; a last one without a line feed says so, and is another than the same with one."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n{NO_LINE_FEED}"] if last else lines


def _numbered(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, str]]:
    return zip(range(start, end), lines[start:end], strict=True)
