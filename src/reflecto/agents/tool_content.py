"""What a call of an agent's tool is as a question: one short line, texts and fields. No I/O but `Place.read_file`.

Tools and their inputs are those of Claude Code and Codex. Of another tool every field of its input is shown.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from reflecto.agents.edits import COUNTED_WITHIN, DIFF_MAX_CHARS, FileChange, changed_file
from reflecto.agents.long_texts import LongText, diff_block, patch_block, text_block
from reflecto.agents.patches import FilePatch, read_patch
from reflecto.agents.places import short_file, short_folder
from reflecto.agents.shown import shown_end

QUESTION_NAME_MAX_BYTES: Final = 120  # of a path or a tool in the question's line
LABELLED: Final = {
    "description": "Why",
    "timeout": "Time limit",
    "run_in_background": "In the background",
    "dangerouslyDisableSandbox": "Outside the sandbox",
}
_MILLISECONDS: Final = 1000
_MCP: Final = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)")

Fields = list[tuple[str, str]]


class Place(NamedTuple):
    """Where a tool would run; `read_file` returns a text of now, or raises OSError where it cannot or may not."""

    folder: str
    home: str
    read_file: Callable[[str], str]


class Content(NamedTuple):
    """A question, the texts it is about, short fields, and the files that would change."""

    question: str
    longs: tuple[LongText, ...] = ()
    fields: Fields = []  # noqa: RUF012 -- never changed
    files: tuple[str, ...] = ()


def content_of(tool: str, given: Mapping[str, Any], place: Place) -> Content:
    """Return the question of a call of `tool`."""
    match tool:
        case "Bash" if isinstance(given.get("command"), str):
            return _command(given, place)
        case "apply_patch" if isinstance(given.get("command"), str):
            return _patch(given, place) or _any_tool(tool, given)
        case "Edit" | "MultiEdit" | "Write" | "NotebookEdit" if change := changed_file(tool, given, place.read_file):
            return _change(change, place)
        case "ExitPlanMode" if isinstance(given.get("plan"), str):
            rest = {name: value for name, value in given.items() if name != "plan"}
            return Content("Go ahead with this plan?", (text_block("Plan", given["plan"]),), _fields_of(rest))
        case "WebFetch" if isinstance(given.get("url"), str):
            return Content("Fetch a page from the web?", *_apart(given))
        case "WebSearch" if isinstance(given.get("query"), str):
            return Content("Search the web?", *_apart(given))
        case "Read" if isinstance(given.get("file_path"), str):
            name = _name_of(given["file_path"], place)
            return Content(f"Read {name}?", *_apart(given))
        case _:
            return _any_tool(tool, given)


def in_folder(question: str, place: Place) -> str:
    """Return the question with the folder in it, if that is known."""
    folder = shown_end(short_folder(place.folder, place.home), QUESTION_NAME_MAX_BYTES)
    return f"{question.removesuffix('?')} in {folder}?" if folder else question


def _command(given: Mapping[str, Any], place: Place) -> Content:
    rest = {name: value for name, value in given.items() if name != "command"}
    code = text_block("Command", given["command"], "code", "sh")
    return Content(in_folder("Run a command?", place), (code,), _fields_of(rest))


def _change(change: FileChange, place: Place) -> Content:
    name = _name_of(change.path, place)
    path = short_file(change.path, place.folder, place.home)
    texts = [text_block(f"{path}: {name}", text, "code") for name, text in change.texts]
    longs = (*(diff_block(path, lines) for lines in change.diffs if lines), *texts)
    fields = [*change.said, *_fields_of(change.rest)]
    if not longs:
        fields.insert(0, ("File", path))
    return Content(f"{'Create' if change.is_new else 'Change'} {name}?", longs, fields, (change.path,))


def _patch(given: Mapping[str, Any], place: Place) -> Content | None:
    if len(given["command"]) > DIFF_MAX_CHARS:  # nor can it be shown whole
        return None
    files = read_patch(given["command"])
    if files is None:
        return None
    rest = {name: value for name, value in given.items() if name != "command"}
    longs, fields = [], _fields_of(rest)
    for file in files:
        path = short_file(file.path, place.folder, place.home)
        if file.moved_to is not None:
            fields.append((f"Move {path}", f"to {short_file(file.moved_to, place.folder, place.home)}"))
        if file.what == "Delete":
            fields.append(("Delete", path))
        elif file.body:
            longs.append(patch_block(path, file.body))
        elif file.moved_to is None:
            fields.append((file.what, path))
    if longs:
        fields.append(("Lines", COUNTED_WITHIN))
    paths = [path for file in files for path in (file.path, file.moved_to) if path is not None]
    return Content(_patch_question(files, place), tuple(longs), fields, tuple(paths))


def _patch_question(files: list[FilePatch], place: Place) -> str:
    if len(files) > 1:
        return in_folder(f"Change {len(files)} files?", place)
    verb = {"Add": "Create", "Delete": "Delete"}.get(files[0].what, "Change")
    return f"{verb} {_name_of(files[0].path, place)}?"


def _any_tool(tool: str, given: Mapping[str, Any]) -> Content:
    match = _MCP.fullmatch(tool)
    name = f"{match['tool']} of {match['server']}" if match else tool
    return Content(f"Use {shown_end(name, QUESTION_NAME_MAX_BYTES)}?", *_apart(given))


def _apart(given: Mapping[str, Any]) -> tuple[tuple[LongText, ...], Fields]:
    """Return texts of several lines and structures as blocks of their own, the rest as fields."""
    longs, rest = [], {}
    for name, value in given.items():
        if isinstance(value, (Mapping, list)) and len(str(value)) > 2 * len("[]"):
            longs.append(text_block(name, _as_json(value, indent=2), "code", "json"))
        else:
            rest[name] = value
    return tuple(longs), _fields_of(rest)


def _fields_of(given: Mapping[str, Any]) -> Fields:
    return [(LABELLED.get(name, name), _value(name, value)) for name, value in given.items()]


def _value(name: str, value: Any) -> str:
    match value:
        case str():
            return value
        case True | False:
            return "yes" if value else "no"
        case int() | float() if name == "timeout":
            return f"{value / _MILLISECONDS:g} s"
        case _:
            return _as_json(value)


def _as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _name_of(path: str, place: Place) -> str:
    return shown_end(short_file(path, place.folder, place.home), QUESTION_NAME_MAX_BYTES)
