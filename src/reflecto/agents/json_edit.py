"""Changes to JSON text that leave everything else as somebody wrote it: order, spacing, line ends. No I/O."""

import json
import re
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any, Final

_DECODER: Final = JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INDENT_DEFAULT: Final = "  "

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object (`start` at its key) or an element of an array; `value` is where the value starts."""

    key: str | int
    start: int
    value: int
    end: int


def append(text: str, path: Path, value: Any) -> str:
    """Return `text` with `value` as the last child of the container at `path`.

    Into an array goes the value; into an object a pair `(key, value)`.
    """
    start, end = _span(text, path)
    children = _children(text, start)
    newline = "\r\n" if "\r\n" in text else "\n"
    if children and "\n" not in text[start : children[-1].start]:
        return _splice(text, children[-1].end, children[-1].end, f", {_render(value, '', '', newline)}")
    unit = _unit(text)
    if children:
        indent = _indent_before(text, children[-1].start)
        return _splice(
            text, children[-1].end, children[-1].end, f",{newline}{indent}{_render(value, indent, unit, newline)}"
        )
    outer = _indent_before(text, start)
    indent = outer + unit
    inside = f"{newline}{indent}{_render(value, indent, unit, newline)}{newline}{outer}"
    return _splice(text, start + 1, end - 1, inside)


def delete(text: str, path: Path) -> str:
    """Return `text` without the value at `path`. The last one that was appended leaves no trace."""
    start, end = _span(text, path[:-1])
    children = _children(text, start)
    index = next(number for number, child in reversed([*enumerate(children)]) if child.key == path[-1])
    if len(children) == 1:
        return _splice(text, start + 1, end - 1, "")
    if index == 0:
        return _splice(text, children[0].start, children[1].start, "")
    return _splice(text, children[index - 1].end, children[index].end, "")


def _span(text: str, path: Path) -> tuple[int, int]:
    start = _skip_space(text, 0)
    for key in path:
        # Of members with the same name the last one counts, as for every reader of JSON.
        start = next(child.value for child in reversed(_children(text, start)) if child.key == key)
    _, end = _DECODER.raw_decode(text, start)
    return start, end


def _children(text: str, start: int) -> list[Child]:
    """Return the children of the object or array that starts at `start`, in valid JSON."""
    found: list[Child] = []
    position = _skip_space(text, start + 1)
    while text[position] not in "]}":
        if text[position] == ",":
            position = _skip_space(text, position + 1)
        key: str | int = len(found)
        value = position
        if text[start] == "{":
            key, after_key = _DECODER.raw_decode(text, position)
            value = _skip_space(text, _skip_space(text, after_key) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(Child(key, position, value, end))
        position = _skip_space(text, end)
    return found


def _render(value: Any, indent: str, unit: str, newline: str) -> str:
    """Return the value, or a pair as a member, as text whose first line is already indented."""
    if isinstance(value, tuple):
        key, inner = value
        return f"{json.dumps(key)}: {_render(inner, indent, unit, newline)}"
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else _INDENT_DEFAULT


def _indent_before(text: str, position: int) -> str:
    """Return the white space that the line of `position` begins with."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _splice(text: str, start: int, end: int, replacement: str) -> str:
    return text[:start] + replacement + text[end:]
