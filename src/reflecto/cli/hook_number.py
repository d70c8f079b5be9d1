"""The two digits that a dangerous call needs on the phone, shown where the agent runs while its hook waits.

Agents give their hooks no terminal, and show what a hook prints only after its end. So the number goes into tmux's
status line, or else into the title of the terminal's window; `reflecto hook numbers` shows it in any other terminal.
Nothing of that writes into what the agent has drawn.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from reflecto.cli.open_calls import OpenCalls

PARENTS_MAX: Final = 8  # between this program and the agent: shells, and what agents start hooks with
PROGRAM_SECONDS: Final = 1.0  # that tmux or ps may take
_SET_TITLE: Final = "\033[22;2t\033]2;{title}\007"  # the title before is put aside, where a terminal can do that
_TITLE_AS_BEFORE: Final = "\033]2;\007\033[23;2t"


@contextmanager
def number_shown(number: str, question: str, seconds: float) -> Iterator[None]:
    """Show the number in every way there is, for at most `seconds`."""
    said = f"Reflecto: type {number} on the phone"
    with ExitStack() as ways:
        ways.enter_context(OpenCalls().showing(f"{number}  {question}"))
        if not _say_in_tmux(said, seconds, ways):
            _say_in_title(said, ways)
        yield


@click.command("numbers")
def numbers() -> None:
    """Show the numbers to type on the phone for the dangerous calls that wait now on this machine."""
    shown = OpenCalls().shown()
    for line in shown:
        click.echo(line)
    if not shown:
        click.echo("No call waits for a number.", err=True)


def _say_in_tmux(said: str, seconds: float, ways: ExitStack) -> bool:
    pane, tmux = os.environ.get("TMUX_PANE"), shutil.which("tmux")
    if not pane or not os.environ.get("TMUX") or tmux is None:
        return False
    say = [tmux, "display-message", "-t", pane]
    if _output_of([*say, "-N", "-d", str(int(seconds * 1000)), said]) is None:
        return False
    ways.callback(_output_of, [*say, "-d", "1", ""])
    return True


def _say_in_title(said: str, ways: ExitStack) -> None:
    terminal = _agents_terminal()
    if terminal is not None and _write(terminal, _SET_TITLE.format(title=said)):
        ways.callback(_write, terminal, _TITLE_AS_BEFORE)


def _agents_terminal() -> Path | None:
    """Return the terminal of the nearest process above this one that has one."""
    process = os.getppid()
    for _ in range(PARENTS_MAX):
        parent, _, terminal = (_output_of(["ps", "-o", "ppid=,tty=", "-p", str(process)]) or "").strip().partition(" ")
        if (name := terminal.strip()) and name.strip("?"):
            return Path("/dev") / name
        if not parent.isdigit() or int(parent) <= 1:
            return None
        process = int(parent)
    return None


def _write(terminal: Path, sequence: str) -> bool:
    with suppress(OSError):
        # Not to wait for a terminal that takes nothing, and not to get it as this process's own.
        number = os.open(terminal, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with open(number, "wb", buffering=0) as device:  # noqa: PTH123 -- of a number
            device.write(sequence.encode())
            return True
    return False


def _output_of(command: list[str]) -> str | None:
    """Return what a program prints, or None if it fails."""
    with suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run(  # noqa: S603 -- our own words
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROGRAM_SECONDS, text=True, check=True
        )
        return ran.stdout
    return None
