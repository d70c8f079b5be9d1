"""Single key presses from a terminal, as they come. POSIX; elsewhere no keys are read."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Final, TextIO

CHUNK_BYTES: Final = 64


def can_read_keys(keys: TextIO, out: TextIO) -> bool:
    """Tell whether a person can see the question and press a key: both ends must be a terminal."""
    return sys.platform != "win32" and keys.isatty() and out.isatty()


@contextlib.contextmanager
def key_presses(keys: TextIO, on_press: Callable[[bytes], None]) -> Iterator[None]:
    """Pass each key press on from the running loop, unechoed; the terminal is as before at the end, however it comes.

    What was typed ahead is thrown away at both ends: it was not meant for a question, nor for the shell.
    """
    if sys.platform == "win32":
        yield
        return
    import termios  # noqa: PLC0415 -- there is none on Windows
    import tty  # noqa: PLC0415 -- there is none on Windows

    fd = keys.fileno()
    loop = asyncio.get_running_loop()
    saved = termios.tcgetattr(fd)

    def read() -> None:
        try:
            chunk = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:  # the terminal went away
            chunk = b""
        if chunk:
            on_press(chunk)
        else:
            loop.remove_reader(fd)

    try:
        tty.setcbreak(fd)
        loop.add_reader(fd, read)
        loop.add_signal_handler(signal.SIGCONT, tty.setcbreak, fd)  # after Ctrl-Z and `fg`
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        loop.remove_reader(fd)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSAFLUSH, saved)
