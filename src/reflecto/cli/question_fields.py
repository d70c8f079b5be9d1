"""Options of `reflecto ask` for what the phone shows beside the question, and how it is answered."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import click

from reflecto.cli.streams import read_bytes

if TYPE_CHECKING:
    from reflecto.client.given import Given
    from reflecto.contract.details import Block

SOURCE_KEYS: Final = ("app", "host", "where", "session")

F = TypeVar("F", bound=Callable[..., Any])


class QuestionFields(NamedTuple):
    """What the options below were given."""

    detail_files: tuple[str, ...]
    diffs: tuple[str, ...]
    source: tuple[str, ...]
    danger: Literal["normal", "high"] | None
    confirm: Literal["tap", "hold", "number"] | None
    comment: bool

    @property
    def reads_standard_input(self) -> bool:
        """Whether one of the files is standard input."""
        return "-" in (*self.detail_files, *self.diffs)

    def read(self) -> "Given":
        """Read the files and return the question's fields. Raises: click.UsageError, InvalidFile."""
        given: Given = {}
        if self.detail_files or self.diffs:
            given["details"] = self._details()
        if self.source:
            given["source"] = dict(map(_source_part, self.source))
        if self.danger:
            given["danger"] = self.danger
        if self.confirm:
            given["confirm"] = self.confirm
        if self.comment:
            given["comment"] = "optional"
        return given

    def _details(self) -> "Sequence[Block]":
        from reflecto.client.details import fit_details

        if (*self.detail_files, *self.diffs).count("-") > 1:
            raise click.UsageError("only one file can come from standard input")
        blocks: list[Block] = []
        for path in self.detail_files:
            blocks += _read(path, is_diff=False)
        for path in self.diffs:
            blocks += _read(path, is_diff=True)
        return fit_details(blocks)


def question_field_options(command: F) -> F:
    """Add the options; the command gets what QuestionFields is made of."""
    for option in (
        click.option("--comment", is_flag=True, help="Let the person add a word; it is in --json and on stderr."),
        click.option(
            "--confirm",
            type=click.Choice(["tap", "hold", "number"]),
            help="How the first choice is tapped: held for a second, or with the two digits shown here typed on the"
            " phone.  [default: tap]",
        ),
        click.option("--danger", type=click.Choice(["normal", "high"]), help="How much harm a wrong tap does."),
        click.option(
            "--source",
            multiple=True,
            metavar="[KEY=]TEXT",
            help="What this program says of itself: app (without a key), host, where or session. May be repeated.",
        ),
        click.option(
            "--diff", "diffs", multiple=True, metavar="FILE", help="A unified diff to show, - for standard input."
        ),
        click.option(
            "--detail-file",
            "detail_files",
            multiple=True,
            metavar="FILE",
            help="A text or code file to show, - for standard input. May be repeated.",
        ),
    ):
        command = option(command)
    return command


def _source_part(option: str) -> tuple[str, str]:
    key, equals, text = option.partition("=")
    if not equals:
        return "app", option
    if key not in SOURCE_KEYS:
        raise click.UsageError(f"--source takes {', '.join(SOURCE_KEYS)}, not {key!r}")
    return key, text


def _read(path: str, *, is_diff: bool) -> "Sequence[Block]":
    import sys

    from reflecto.client import details

    if path != "-":
        try:
            if is_diff:
                return details.diff_file_details(path)
            return details.file_details(path)
        except OSError as error:
            raise click.UsageError(f"{path}: {error.strerror or error}") from None
    content = read_bytes(sys.stdin.buffer, details.FILE_READ_BYTES + 1, "the file")
    return details.content_details(content, "standard input", is_diff=is_diff)
