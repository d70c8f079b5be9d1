"""What Claude Code's tools that change a file would change, as the lines of diffs. No I/O but `read_file`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from reflecto.agents.diffs import Line, diff_lines

FILE_MAX_BYTES: Final = 262_144  # of one that is read to show what changes in it
DIFF_MAX_CHARS: Final = 600_000  # of both texts together; what is longer cannot be shown whole anyway
UNKNOWN: Final = "What the file holds now is not known here."
COUNTED_WITHIN: Final = "Line numbers count within the change, not within the file."
NOT_FOUND: Final = "The file as it is now has no such text."

_OF_AN_EDIT: Final = {"old_string", "new_string", "replace_all"}

ReadFile = Callable[[str], str]


class FileChange(NamedTuple):
    """`diffs` are the lines of one diff or more, `texts` what is too long for one, each with a name.

    `said` is what they do not show, `rest` the input's other fields.
    """

    path: str
    diffs: Sequence[Sequence[Line]]
    said: Sequence[tuple[str, str]]
    rest: Mapping[str, Any]
    is_new: bool = False
    texts: Sequence[tuple[str, str]] = ()


class _Replacement(NamedTuple):
    old: str
    new: str
    everywhere: bool


def changed_file(tool: str, given: Mapping[str, Any], read_file: ReadFile) -> FileChange | None:
    """Return what `Edit`, `MultiEdit`, `Write` or `NotebookEdit` would change; None for an input of another shape."""
    path = given.get("notebook_path" if tool == "NotebookEdit" else "file_path")
    if not isinstance(path, str):
        return None
    match tool:
        case "Write":
            return _written(path, given, read_file)
        case "NotebookEdit":
            return _cell(path, given, read_file)
    edits = given.get("edits") if tool == "MultiEdit" else [given]
    replacements = [_replacement(edit) for edit in edits] if isinstance(edits, list) else []
    if not replacements or None in replacements:
        return None
    return _edited(path, given, [each for each in replacements if each], read_file)


def _written(path: str, given: Mapping[str, Any], read_file: ReadFile) -> FileChange | None:
    content = given.get("content")
    if not isinstance(content, str):
        return None
    rest = _without(given, "file_path", "content")
    is_new, said, old = False, [], ""
    try:
        old = read_file(path)
    except FileNotFoundError:
        is_new = True
    except OSError:
        said.append(("Before", UNKNOWN))
    if len(old) + len(content) > DIFF_MAX_CHARS:
        return FileChange(path, [], said, rest, is_new, [("all of the file from now on", content)])
    if not content and not old:
        said.append(("Content", "nothing, an empty file"))
    elif content == old:
        said.append(("Content", "the same as now"))
    return FileChange(path, [diff_lines(old, content)], said, rest, is_new)


def _edited(
    path: str, given: Mapping[str, Any], replacements: Sequence[_Replacement], read_file: ReadFile
) -> FileChange:
    rest = _without(given, "file_path", *({"edits"} if "edits" in given else _OF_AN_EDIT))
    said: list[tuple[str, str]] = []
    is_new = all(not each.old for each in replacements[:1])
    try:
        old = read_file(path)
        is_new = False
    except FileNotFoundError:
        old = ""
    except OSError:
        return _fragments(path, replacements, rest, [("Lines", COUNTED_WITHIN)])
    new = old
    for each in replacements:
        if each.old not in new:
            return _fragments(path, replacements, rest, [("Before", NOT_FOUND)])
        new = new.replace(each.old, each.new, -1 if each.everywhere else 1) if each.old else each.new
    if new == old:
        said.append(("Content", "the same as now"))
    return FileChange(path, [diff_lines(old, new)], said, rest, is_new)


def _fragments(
    path: str, replacements: Sequence[_Replacement], rest: Mapping[str, Any], said: Sequence[tuple[str, str]]
) -> FileChange:
    """Return the replaced texts as diffs of their own, where the file cannot be looked at."""
    said = list(said)
    if sum(len(each.old) + len(each.new) for each in replacements) > DIFF_MAX_CHARS:
        texts = [(name, text) for each in replacements for name, text in (("instead of", each.old), ("new", each.new))]
        return FileChange(path, [], said, rest, texts=texts)
    if any(each.everywhere for each in replacements):
        said.append(("Where", "everywhere in the file"))
    return FileChange(path, [diff_lines(*_as_lines(each.old, each.new)) for each in replacements], said, rest)


def _cell(path: str, given: Mapping[str, Any], read_file: ReadFile) -> FileChange | None:
    new, mode = given.get("new_source", ""), given.get("edit_mode") or "replace"
    if not isinstance(new, str):
        return None
    said = [("Cell", f"{mode} {given.get('cell_id') or ''}".strip())]
    rest = _without(given, "notebook_path", "new_source", "cell_id", "edit_mode")
    if len(new) > DIFF_MAX_CHARS:
        return FileChange(path, [], said, rest, texts=[("the cell from now on", new)])
    old = ""
    if mode != "insert":
        try:
            old = _source_of(read_file(path), given.get("cell_id"))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            said.append(("Before", "What the cell holds now is not known here."))
    return FileChange(path, [diff_lines(*_as_lines(old, "" if mode == "delete" else new))], said, rest)


def _source_of(notebook: str, cell_id: object) -> str:
    """Return the text of a cell. Raises: LookupError, TypeError or ValueError if there is none."""
    cell = next((cell for cell in json.loads(notebook)["cells"] if cell.get("id") == cell_id), None)
    if cell is None:
        raise LookupError(cell_id)
    return "".join(cell["source"])


def _replacement(edit: object) -> _Replacement | None:
    if not isinstance(edit, Mapping):
        return None
    if "file_path" not in edit and not edit.keys() <= _OF_AN_EDIT:
        return None  # a field that is not known here would not be shown
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    return _Replacement(old, new, bool(edit.get("replace_all")))


def _as_lines(old: str, new: str) -> tuple[str, str]:
    """Return parts of a file so that neither is said to lack a line feed at the end of the file."""
    if old and new:
        end = "" if old.endswith("\n") and new.endswith("\n") else "\n"
        return old + end, new + end
    end = "" if (old + new).endswith("\n") else "\n"
    return (old and old + end), (new and new + end)


def _without(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}
