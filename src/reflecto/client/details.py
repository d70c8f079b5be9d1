"""Details of a question from files and diffs. Up to 48 KiB nothing is left out; above that what is missing is said.

The words for it are a field "Missing" in front of the details, and a line where something was cut. No network.
"""

import codecs
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from reflecto.client.errors import InvalidFile
from reflecto.contract.details import (
    Block,
    CodeBlock,
    DetailField,
    DiffBlock,
    FieldsBlock,
    TextBlock,
)
from reflecto.contract.limits import (
    BLOCK_LABEL_MAX_BYTES,
    DETAILS_MAX_BLOCKS,
    DETAILS_MAX_BYTES,
    FIELD_VALUE_MAX_BYTES,
)

FILE_READ_BYTES: Final = 8 * 2**20  # a file might not end; of more than that the size is told, as far as known
_HEAD_SHARE: Final = 0.65  # of what is kept of a long text; its end often matters as much as its beginning
_PROSE: Final = frozenset({"", ".txt", ".md", ".rst", ".log"})
_DIFFS: Final = frozenset({".diff", ".patch"})
_LANGUAGES: Final = {
    ".c": "c", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".go": "go", ".h": "c", ".html": "html",
    ".java": "java", ".js": "javascript", ".json": "json", ".kt": "kotlin", ".php": "php", ".pl": "perl",
    ".py": "python", ".rb": "ruby", ".rs": "rust", ".sh": "bash", ".sql": "sql", ".swift": "swift",
    ".tf": "hcl", ".toml": "toml", ".ts": "typescript", ".tsx": "typescript", ".xml": "xml", ".yaml": "yaml",
    ".yml": "yaml",
}  # fmt: skip
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
MISSING: Final = "Missing"  # the name of a field that says what was left out; phones say it beside the choices


def file_details(path: str | os.PathLike[str], *, label: str | None = None) -> tuple[Block, ...]:
    """Return a file's text as details: a diff by its ending, prose as text, anything else as code.

    `label` is what it is called on the phone, by default the path. Raises: InvalidFile if it is not UTF-8, OSError.
    """
    file = Path(path)
    called = str(path) if label is None else label
    return content_details(
        _read(file),
        called,
        size=file.stat().st_size,
        is_diff=file.suffix.lower() in _DIFFS,
        language=_LANGUAGES.get(file.suffix.lower()),
        is_prose=file.suffix.lower() in _PROSE,
    )


def diff_file_details(path: str | os.PathLike[str]) -> tuple[Block, ...]:
    """Return the unified diff in a file as details. Raises: as `file_details`."""
    return content_details(_read(Path(path)), str(path), size=Path(path).stat().st_size, is_diff=True)


def content_details(
    content: bytes,
    called: str,
    *,
    size: int | None = None,
    is_diff: bool = False,
    is_prose: bool = True,
    language: str | None = None,
) -> tuple[Block, ...]:
    """Return a text as details; `size` are the bytes of all of it, where `content` may have less.

    Raises: InvalidFile if it is not UTF-8.
    """
    text = _text_of(content[:FILE_READ_BYTES], called)
    if len(content) > FILE_READ_BYTES:
        text += f"\n{gap(max(size or 0, len(content)) - FILE_READ_BYTES)}\n"
    if not text.strip():
        empty = clipped(f"{called} is empty", FIELD_VALUE_MAX_BYTES)
        return (FieldsBlock(fields=(DetailField(name="File", value=empty),)),)
    if is_diff:
        return diff_details(text)
    named = clipped(called, BLOCK_LABEL_MAX_BYTES)
    if is_prose:
        return (TextBlock(text=text, label=named),)
    return (CodeBlock(text=text, label=named, language=language or msgspec.UNSET),)


def diff_details(diff: str) -> tuple[Block, ...]:
    """Return a unified diff as one block for each file, whose path is its label.

    What stands before the first file, such as a commit's message, is a text of its own. No diff at all: no block.
    """
    files = _files_of(diff)
    if not files:
        return (DiffBlock(text=diff),) if diff.strip() else ()
    before = diff[: files[0][0]]
    ends = [*(start for start, _ in files[1:]), len(diff)]
    return (
        *([TextBlock(text=before)] if before.strip() else []),
        *(
            DiffBlock(text=diff[start:end], label=clipped(path, BLOCK_LABEL_MAX_BYTES) or msgspec.UNSET)
            for (start, path), end in zip(files, ends, strict=True)
        ),
    )


def fit_details(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the blocks so that the server takes them: at most 12, and at most 48 KiB as canonical JSON.

    Too many are joined, and nothing of them is lost. Only what is too long loses the middle of its longest texts: a
    line says how much was there, and a field "Missing" in front says it of each.
    """
    whole = _joined(tuple(blocks), DETAILS_MAX_BLOCKS)
    if _size_of(whole) <= DETAILS_MAX_BYTES:
        return whole
    return _cut(_joined(whole, DETAILS_MAX_BLOCKS - 1))


def gap(missing_bytes: int) -> str:
    """Return the line that stands where something was cut."""
    return f"[… {missing_bytes:,} bytes are missing here …]"


def clipped(text: str, max_bytes: int) -> str:
    """Return `text`, or its end in at most `max_bytes` behind an ellipsis: of a path the end tells more."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= max_bytes:
        return raw.decode()
    return "…" + raw[-(max_bytes - 3) :].decode("utf-8", "ignore")


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(FILE_READ_BYTES + 1)


def _text_of(content: bytes, called: str) -> str:
    """Return the text without a byte order mark; of one that was cut off, without the half of a character."""
    try:
        is_all = len(content) < FILE_READ_BYTES
        return codecs.getincrementaldecoder("utf-8-sig")().decode(content, final=is_all)
    except UnicodeDecodeError:
        raise InvalidFile(f"{called} is not text in UTF-8", code="invalid_details") from None


def _files_of(diff: str) -> list[tuple[int, str]]:
    """Return where each file begins, and its path. Lines inside of a hunk are counted, so none passes for a heading."""
    files: list[tuple[int, str]] = []
    has_headings, old_left, new_left, position = False, 0, 0, 0
    lines = diff.split("\n")
    for index, line in enumerate(lines):
        start, position = position, position + len(line) + 1
        if old_left > 0 or new_left > 0:
            sign = line[:1].strip() or " "  # some tools drop the space of an empty line
            old_left -= sign in " -"
            new_left -= sign in " +"
            continue
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith(("diff --git ", "Index: ")):
            files.append((start, _path_in(line)))
            has_headings = False
        elif line.startswith("--- ") and following.startswith("+++ "):
            path = next((path for path in (_path_in(following), _path_in(line)) if path != "/dev/null"), "")
            if has_headings or not files:
                files.append((start, path))
            files[-1] = (files[-1][0], path or files[-1][1])
            has_headings = True
        elif hunk := _HUNK.match(line):
            old_left, new_left = (int(count) if count else 1 for count in hunk.groups())
    return files


def _path_in(heading: str) -> str:
    """Return the path that a line such as `+++ b/src/app.py` or `diff --git a/x b/x` names."""
    words = heading.rstrip("\r").split("\t")[0]
    path = words.rpartition(" b/")[2] if words.startswith("diff --git ") else words.partition(" ")[2]
    return re.sub(r"^[ab]/", "", path.strip().strip('"'))


def _size_of(blocks: Sequence[Block]) -> int:
    """Return how many bytes they have as canonical JSON, whose order of names changes no length."""
    return len(msgspec.json.encode(blocks))


def _joined(blocks: tuple[Block, ...], most: int) -> tuple[Block, ...]:
    """Put the last blocks together into one, where there are more than `most`."""
    if len(blocks) <= most:
        return blocks
    kept, rest = blocks[: most - 1], blocks[most - 1 :]
    if all(isinstance(block, DiffBlock) for block in rest):
        return (*kept, DiffBlock(text="".join(_ended(block.text) for block in rest if isinstance(block, DiffBlock))))
    return (*kept, TextBlock(text="\n".join(_in_words(block) for block in rest)))


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _in_words(block: Block) -> str:
    if isinstance(block, FieldsBlock):
        return "\n".join(f"{field.name}: {field.value}" for field in block.fields)
    return f"{block.label}:\n{block.text}" if isinstance(block.label, str) else block.text


def _cut(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Cut the longest texts until all of it fits. `blocks` leave room for one more."""
    low, high = 0, max(len(block.text.encode()) for block in blocks if not isinstance(block, FieldsBlock))
    while low < high:  # the longest length to which texts may be cut so that the whole fits
        middle = (low + high + 1) // 2
        if _size_of(_shortened(blocks, middle)) <= DETAILS_MAX_BYTES:
            low = middle
        else:
            high = middle - 1
    return _shortened(blocks, low)


def _shortened(blocks: tuple[Block, ...], most_bytes: int) -> tuple[Block, ...]:
    told: list[DetailField] = []
    left: list[Block] = []
    for number, block in enumerate(blocks, 1):
        if isinstance(block, FieldsBlock) or len(raw := block.text.encode()) <= most_bytes:
            left.append(block)
            continue
        head = raw[: int(most_bytes * _HEAD_SHARE)].decode("utf-8", "ignore")
        tail = raw[len(raw) - (most_bytes - int(most_bytes * _HEAD_SHARE)) :].decode("utf-8", "ignore")
        missing = len(raw) - len(head.encode()) - len(tail.encode())
        name = block.label if isinstance(block.label, str) else f"part {number}"
        told.append(DetailField(name=MISSING, value=f"{missing:,} of {len(raw):,} bytes of {name}"))
        left.append(msgspec.structs.replace(block, text=f"{head}\n{gap(missing)}\n{tail}"))
    return (FieldsBlock(fields=tuple(told)), *left) if told else tuple(left)
