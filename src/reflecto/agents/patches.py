"""Codex's patches (`apply_patch`) as one unified diff for each file. No I/O."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_FILE: Final = re.compile(r"\*\*\* (?P<what>Add|Update|Delete) File: (?P<path>.+)")
_MOVE: Final = re.compile(r"\*\*\* Move to: (?P<path>.+)")


class FilePatch(NamedTuple):
    """What a patch does to one file: `what` is `Add`, `Update` or `Delete`; `body` has the lines of a unified diff.

    `body` has hunks without line numbers, since a patch names none; empty where the file is only moved or deleted.
    """

    what: str
    path: str
    moved_to: str | None
    body: list[str]


def read_patch(text: str) -> list[FilePatch] | None:
    """Return what the patch does, file by file, or None if something in it is not understood."""
    lines = text.strip().split("\n")
    if len(lines) < 2 or lines[0].strip() != "*** Begin Patch" or lines[-1].strip() != "*** End Patch":
        return None
    files: list[FilePatch] = []
    for line in lines[1:-1]:
        if match := _FILE.fullmatch(line):
            files.append(FilePatch(match["what"], match["path"], None, []))
        elif not files:
            return None
        elif match := _MOVE.fullmatch(line):
            files[-1] = files[-1]._replace(moved_to=match["path"])
        elif not line or line.startswith(("+", "-", " ", "@@")):
            files[-1].body.append(line or " ")
        elif line != "*** End of File":
            return None
    return files or None


def as_hunks(body: Iterable[str]) -> list[str]:
    """Return the lines with a head before each hunk that counts it, as a unified diff has it.

    A patch names no line numbers: each hunk begins at 1, and what the patch says of its place stands behind that.
    """
    hunks: list[tuple[str, list[str]]] = []
    for line in body:
        if line.startswith("@@"):
            hunks.append((line.strip("@ "), []))
        elif hunks:
            hunks[-1][1].append(line)
        else:
            hunks.append(("", [line]))
    counted: list[str] = []
    for place, lines in hunks:
        old = sum(line[0] != "+" for line in lines)
        new = sum(line[0] != "-" for line in lines)
        counted += [f"@@ -{min(old, 1)},{old} +{min(new, 1)},{new} @@ {place}".rstrip(), *lines]
    return counted
