"""How commands print: results on standard output, everything else on standard error, colours only where they show."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from reflecto.cli.exits import exit_code_of, message_of, report, say
from reflecto.cli.progress_line import aside
from reflecto.contract.visibility import visible
from reflecto.terminal.columns import cell_width, clip

if TYPE_CHECKING:
    from reflecto.client.results import Caveat

_GAP: Final = "  "  # between columns


def put(text: str) -> None:
    """Print a result on standard output, where a line that shows progress may stand."""
    with aside():
        click.echo(text)


def show_failure(error: Exception, *, as_json: bool) -> int:
    """Print what went wrong and return the exit code. Raises: the error, if it is a fault in this program."""
    code = exit_code_of(error)
    if code is None:
        raise error
    if not as_json:
        return report(error)
    click.echo(json.dumps({"error": failure_fields(error)}))
    return code


def failure_fields(error: Exception) -> dict[str, Any]:
    """Return what `--json` tells of a failure: `code`, `message`, and `details` where there are any."""
    default = "usage" if isinstance(error, click.UsageError) else "failed"
    fields: dict[str, Any] = {"code": getattr(error, "code", default), "message": message_of(error)}
    if details := getattr(error, "details", None):
        fields["details"] = details
    return fields


def show_warnings(warnings: "Sequence[Caveat]") -> None:
    """Print the server's warnings on standard error; with `--json` they are in the result as well."""
    for warning in warnings:
        with aside():
            say(f"Warning: {visible(warning.message)}")


def tell(text: str) -> None:
    """Say something that only a person at a terminal wants to know."""
    if sys.stderr.isatty():
        with aside():
            say(text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, on a terminal no wider than it is. What came from others must be `visible` already."""
    widths = [max(cell_width(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for index, row in enumerate((head, *rows)):
        padded = [cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=True)]
        line = _GAP.join(padded).rstrip()
        if sys.stdout.isatty():
            line = clip(line, _columns(sys.stdout))
        put(styled(line, sys.stdout, bold=True) if index == 0 else line)


def styled(text: str, stream: TextIO, **style: Any) -> str:
    """Return the text in colours, where `stream` is a terminal that shows them and NO_COLOR is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return text
    return click.style(text, **style)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
