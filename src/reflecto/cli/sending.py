"""What the commands that send have in common: their options, a client with a live line, and what is said at the end."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from reflecto.cli.connection import connection_options, find_connection, warn_if_exposed
from reflecto.cli.exits import Exit
from reflecto.cli.output import show_failure, show_warnings
from reflecto.cli.progress_line import ProgressLine
from reflecto.cli.streams import read_standard_input
from reflecto.cli.times import duration_seconds
from reflecto.contract.visibility import visible

if TYPE_CHECKING:
    from reflecto.client.errors import ReflectoError
    from reflecto.client.results import Caveat
    from reflecto.client.sync import Reflecto

F = TypeVar("F", bound=Callable[..., Any])

TEXT_READ_CHARS: Final = 10_000  # of standard input, which might not end; the server refuses above 1500 bytes
SENDER_EXIT_CODES: Final = """\b
Exit codes:
  0  accepted by the server          6   the token is not valid
  2  bad usage or bad input          7   refused, or nobody is there to get it
  5  the server cannot be reached    8   the key belongs to something else
     and nothing was sent            9   anything else
                                     10  the reply was lost: sent, or not
"""


class Sender(NamedTuple):
    """The options that say where to send and how to report."""

    url: str | None
    token: str | None
    config_file: Path | None
    retry_for: int
    as_json: bool

    def run(self, action: "Callable[[Reflecto], int]") -> int:
        """Connect, run `action`, and return the exit code. Expected failures are printed."""
        try:
            with self._connected() as client:
                return action(client)
        except BrokenPipeError:
            raise  # nobody reads standard output: `main` has an exit code for that
        except Exception as error:  # noqa: BLE001 -- faults of this program are raised again
            return show_failure(error, as_json=self.as_json)

    @contextmanager
    def _connected(self) -> "Iterator[Reflecto]":
        from reflecto.client.sync import Reflecto

        connection = find_connection(self.url, self.token, self.config_file)
        warn_if_exposed(connection.url)
        trouble = _Trouble()
        with (
            Reflecto(connection.url, connection.token, retry_for=self.retry_for, on_trouble=trouble.note) as client,
            ProgressLine(sys.stderr, trouble.line),
        ):
            yield client


def sender_options(command: F) -> F:
    """Add --json, --retry-for, and where to find the server."""
    command = connection_options(command)
    command = click.option(
        "--retry-for",
        type=duration_seconds,
        metavar="DURATION",
        default="60s",
        show_default=True,
        help="How long to try while nothing was accepted: no connection, a limit, a server that cannot store.",
    )(command)
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def key_option(command: F) -> F:
    """Add --key."""
    return click.option(
        "--key", help="Idempotency key: run again with it within a day, it sends nothing more.  [default: a new one]"
    )(command)


def read_text(argument: str | None, token: str | None, what: str) -> str:
    """Return the argument, or standard input for "-" and where it is a pipe. Raises: click.UsageError."""
    if argument is not None and argument != "-":
        return argument
    if argument is None and sys.stdin.isatty():
        raise click.UsageError(f"{what} is missing; give it as an argument, or through a pipe")
    if token == "-":
        raise click.UsageError(f"only one of {what} and --token can come from standard input")
    return read_standard_input(TEXT_READ_CHARS, what).rstrip("\r\n")


def finish(warnings: "Sequence[Caveat]", *, reached: int | None = None, selector: str | None = None) -> int:
    """Print the warnings and return the exit code: refused if no device gets what was sent.

    `reached` counts the devices; None where the server does not tell, and only the warnings do.
    """
    show_warnings(warnings)
    codes = [warning.code for warning in warnings]
    named = len([name for name in (selector or "").split(",") if name.strip()])
    nobody = "no_devices" in codes or 0 < named <= codes.count("unknown_device")
    return Exit.REFUSED if nobody and not reached else 0


class _Trouble:
    """The error because of which the client is about to try again, for the live line; None once it got through."""

    def __init__(self) -> None:
        self._error: ReflectoError | None = None

    def note(self, error: "ReflectoError | None") -> None:
        self._error = error

    def line(self) -> str:
        error = self._error  # read once: another thread sets it
        return f"Trying again: {visible(str(error))}" if error else ""
