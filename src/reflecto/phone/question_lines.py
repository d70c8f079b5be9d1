"""A question as lines: who asks, what is asked, the details whole, and the choices. What others wrote is `visible`."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from reflecto.contract.details import Block, DiffBlock, FieldsBlock
from reflecto.contract.visibility import visible
from reflecto.phone import effects
from reflecto.terminal.columns import cell_width, wrap
from reflecto.terminal.times import duration

GUTTER: Final = "   \u2502 "  # a vertical bar: no line of a question can pass for one of this program
_WRAPPED: Final = "   \u250a "  # a dashed bar: the line of code above goes on
_HEADING: Final = "   \u251c\u2500 "  # a branch: what follows is another part; no text of an asker begins so
_INDENT: Final = "   "
_GOES_ON: Final = "\u2026 "  # what wraps: names and titles of others are in it, and must not start a line
MISSING: Final = "Missing"  # the name of a field with which an asker's client says what it left out
_HOW: Final = {
    "tap": "",
    "hold": "  (press the key twice, a second apart)",
    "number": "  (type the number that is shown where it runs)",
}


class QuestionLines(NamedTuple):
    """The parts of a question's lines, in their order. `again` is what a last page begins with."""

    asked: list[str]
    details: list[str]
    choices: list[str]
    again: list[str]

    def whole(self) -> list[str]:
        """Return all of it."""
        return [*self.asked, *self.details, *self.choices]


def question_lines(opened: effects.Opened, number: str, now: float, columns: int | None) -> QuestionLines:
    """Return a question with its numbered choices. `number` is what it is called here, `now` Unix seconds."""
    left = duration(opened.expires_at - now)
    head = f"{number} {visible(opened.source)} asks ({left} left):"
    notes = [*_says(opened, columns), *([f"{_INDENT}Dangerous, it says."] if opened.danger == "high" else [])]
    text = quote(opened.question, columns)
    left_out = _left_out(opened.details)
    choices = [
        line
        for index, choice in enumerate(opened.choices)
        for line in hang(
            f"{_INDENT}{index + 1}  ", visible(choice) + (_HOW[opened.confirm] if index == 0 else ""), columns
        )
    ]
    details = [line for block in opened.details for line in _block(block, columns)]
    said_missing = hang(_INDENT, "Parts are missing, it says. Look where it runs.", columns) if left_out else []
    return QuestionLines(
        ["", *say(head, columns), *notes, *text],
        details,
        [*said_missing, *choices],
        [*say(f"{number} {visible(opened.source)} asks:", columns), *text],
    )


def say(text: str, columns: int | None) -> list[str]:
    """Return one of this program's own lines; what does not fit on it goes on behind a mark."""
    if columns is None or cell_width(text) <= columns:
        return [text]
    first, *_ = wrap(text, columns)
    return [first, *hang(_GOES_ON, text[len(first) :], columns, again=_GOES_ON)]


def quote(text: str, columns: int | None) -> list[str]:
    """Return text of others, behind a bar."""
    return hang(GUTTER, visible(text, keep_lines=True), columns, again=GUTTER)


def hang(first: str, text: str, columns: int | None, *, again: str | None = None) -> list[str]:
    """Return `text` behind `first`; what wraps stands behind `again`, by default under the text."""
    pieces = wrap(text, None if columns is None else columns - len(first))
    return [(first if index == 0 else again or " " * len(first)) + piece for index, piece in enumerate(pieces)]


def _says(opened: effects.Opened, columns: int | None) -> list[str]:
    if not opened.says:
        return []
    app, host = opened.says.get("app", ""), opened.says.get("host", "")
    who = f"{app} on {host}" if app and host else app or host
    said = ", ".join(filter(None, [who, opened.says.get("where", ""), opened.says.get("session", "")]))
    return hang(f"{_INDENT}says: ", visible(said), columns)


def _block(block: Block, columns: int | None) -> list[str]:
    if isinstance(block, FieldsBlock):
        return [
            line
            for field in block.fields
            for line in hang(GUTTER, f"{visible(field.name)}: {visible(field.value)}", columns, again=_WRAPPED)
        ]
    label = visible(block.label) if isinstance(block.label, str) else ""
    size = _size(block.text) if not isinstance(block, DiffBlock) else _changed(block.text)
    heading = hang(_HEADING, f"{label} ({size})" if label else f"({size})", columns, again=_HEADING)
    text = [
        piece
        for line in visible(block.text.removesuffix("\n"), keep_lines=True).split("\n")
        for piece in hang(GUTTER, line, columns, again=_WRAPPED)
    ]
    return [*heading, *text]


def _size(text: str) -> str:
    count = text.removesuffix("\n").count("\n") + 1
    return "1 line" if count == 1 else f"{count} lines"


def _changed(diff: str) -> str:
    lines = diff.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return f"+{added} \u2212{removed}, {_size(diff)}"


def _left_out(details: Sequence[Block]) -> bool:
    return any(field.name == MISSING for block in details if isinstance(block, FieldsBlock) for field in block.fields)
