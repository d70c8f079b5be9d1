"""What the commands exit with, and how an exception becomes one line and one of these. docs/cli.md has the table."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, TextIO

import click

from reflecto.contract.visibility import visible


class Exit(IntEnum):
    """Exit codes of `reflecto ask`; the other commands use 0, 2, 5 and up in the same sense."""

    FIRST_CHOICE = 0
    OTHER_CHOICE = 1
    USAGE = 2
    EXPIRED = 3
    CANCELLED = 4
    UNREACHABLE = 5
    NOT_AUTHORISED = 6
    REFUSED = 7
    IDEMPOTENCY_MISMATCH = 8
    FAILED = 9
    OUTCOME_UNKNOWN = 10
    UNPROVEN = 11
    HUNG_UP = 129
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    TERMINATED = 143


_EXTRAS: Final = {"mcp": "mcp", "mcp_types": "mcp", "asyncpg": "postgres"}  # module to what it is installed by

# A path that was named wrong. That a disk is full or broken is nobody's usage.
_UNUSABLE_PATH: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


def exit_code_of(error: Exception) -> int | None:
    """Return what to exit with for a failure that a person caused or can mend; None for a fault in this program.

    The first kind are this project's own exceptions and what the operating system refuses.
    """
    code = getattr(error, "exit_code", None)
    if isinstance(code, int):
        return code
    if isinstance(error, ModuleNotFoundError):
        return None if (error.name or "").startswith("reflecto") else Exit.FAILED
    if _is_config_error(error):
        return Exit.USAGE
    if isinstance(error, _UNUSABLE_PATH) and error.filename is not None:  # of a socket there is no name
        return Exit.USAGE
    if isinstance(error, OSError) or type(error).__module__.startswith("reflecto."):
        return Exit.FAILED
    return None


def message_of(error: Exception) -> str:
    """Return the message of an error, in the words of the command line."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(code := getattr(error, "code", None), str):
        from reflecto.cli.option_words import in_words_of

        return in_words_of(context.command, code, str(error))
    if isinstance(error, ModuleNotFoundError):
        extra = _EXTRAS.get(error.name or "", "server")
        return (
            f"this command needs {error.name}, of Reflecto's extra [{extra}]: `make setup` in a clone brings it;"
            f" elsewhere install once more what you installed, with [{extra}] behind its path (docs/cli.md, Installing)"
        )
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return f"{error.filename}: {error.strerror}"  # what `cat` says; str() of it is "[Errno 2] …"
    return str(error) or type(error).__name__


def report(error: Exception, hint: str = "") -> int:
    """Print the error on stderr, with `hint` behind it, and return the exit code."""
    code = exit_code_of(error)
    if code is None:
        say("".join(traceback.format_exception(error)).rstrip())
        return Exit.FAILED
    if isinstance(error, click.UsageError):
        with _standard_error():
            error.show()  # with the command's usage
    else:
        message = message_of(error)
        said = message if isinstance(error, click.ClickException) else visible(message)
        say(f"Error: {said}{_length_of(error)}{hint}")
    return code


def _length_of(error: Exception) -> str:
    """Return the length of a text that was too long: its sender may not know. `--json` has it in the details."""
    length = getattr(error, "details", {}).get("bytes")
    return f"; it has {length}" if isinstance(length, int) else ""


def say(text: str) -> None:
    """Print on standard error."""
    with _standard_error():
        click.echo(text, err=True)


@contextlib.contextmanager
def _standard_error() -> Iterator[None]:
    """Go on if nobody reads standard error: a command's work matters more than its messages."""
    try:
        yield
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Send a stream whose reader has gone to the null device, or flushing it at exit would spoil the exit code."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_config_error(error: Exception) -> bool:
    config = sys.modules.get("reflecto.config")  # whoever raised it has imported it
    return config is not None and isinstance(error, config.ConfigError)
