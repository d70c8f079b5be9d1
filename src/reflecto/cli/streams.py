"""Standard streams that a command may have been started without (`>&-`, `2>&-`, some cron and service managers)."""

import codecs
import io
import os
import sys
from pathlib import Path
from typing import BinaryIO

import click


class ClosedOutput(io.TextIOBase):
    """Standard output that nobody reads: writing to it fails, as to a pipe whose reader went away."""

    def write(self, text: str, /) -> int:
        """Raise BrokenPipeError, unless there is nothing to write."""
        if text:
            raise BrokenPipeError("standard output is closed")
        return 0


def fill_missing_streams() -> None:
    """Give the three streams something to be.

    Their numbers are taken too: the next socket or database would get one, and with it what is meant to be printed.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stdin is None:
        sys.stdin = io.StringIO()
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  lives as long as the process


def read_bytes(stdin: BinaryIO, max_bytes: int, what: str) -> bytes:
    """Return what standard input has, up to `max_bytes`. Raises: click.UsageError where it cannot be read."""
    try:
        return stdin.read(max_bytes)
    except OSError as error:  # a folder, or open for writing only
        raise click.UsageError(f"{what} cannot be read from standard input: {error.strerror or error}") from None


def read_standard_input(max_chars: int, what: str) -> str:
    """Return text from standard input, without the byte order mark of Windows. Raises: click.UsageError."""
    stdin = getattr(sys.stdin, "buffer", None)
    if stdin is None:  # replaced by something that holds text already
        return sys.stdin.read(max_chars).removeprefix("\ufeff")
    encoding = sys.stdin.encoding if sys.platform == "win32" else "utf-8"
    read = read_bytes(stdin, max_chars * 4, what)
    try:
        # A character may be cut off at the end of what was read.
        text = codecs.getincrementaldecoder(encoding)().decode(read, final=len(read) < max_chars * 4)
    except UnicodeDecodeError:
        raise click.UsageError(
            f"{what} on standard input is not UTF-8; convert it first, for example with `iconv -f latin1 -t utf-8`"
        ) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")[:max_chars]
