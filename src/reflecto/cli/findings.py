"""What `reflecto doctor` found: one line per check, with what to do where something is wrong."""

import sys
from dataclasses import dataclass
from typing import Final, Literal

from reflecto.cli.output import put, styled
from reflecto.contract.visibility import visible
from reflecto.terminal.columns import cell_width

Verdict = Literal["ok", "warning", "failed", "skipped"]

_MARKS: Final[dict[Verdict, tuple[str, str | None]]] = {
    "ok": ("\u2713", "green"),
    "warning": ("!", "yellow"),
    "failed": ("\u2717", "red"),
    "skipped": ("-", None),
}
_NAME_COLUMNS: Final = 14


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `advice` says what to do about a warning or a failure, or how to have it checked."""

    check: str
    verdict: Verdict
    message: str
    advice: str = ""


def ok(check: str, message: str) -> Finding:
    """Return that the check found nothing wrong."""
    return Finding(check, "ok", message)


def warning(check: str, message: str, advice: str) -> Finding:
    """Return that something works, but not as it should."""
    return Finding(check, "warning", message, advice)


def failed(check: str, message: str, advice: str) -> Finding:
    """Return that something does not work."""
    return Finding(check, "failed", message, advice)


def skipped(check: str, message: str, advice: str = "") -> Finding:
    """Return that the check was not made."""
    return Finding(check, "skipped", message, advice)


def show(finding: Finding) -> None:
    """Print one finding on one line, or two with its advice."""
    mark, colour = _MARKS[finding.verdict]
    name = finding.check + " " * (_NAME_COLUMNS - cell_width(finding.check))
    put(f"{styled(mark, sys.stdout, fg=colour)} {name} {visible(finding.message)}")
    if finding.advice:
        put(f"  {' ' * _NAME_COLUMNS} {visible(finding.advice)}")
