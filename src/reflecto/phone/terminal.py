"""The raw terminal: one line that is redrawn in place, and single key presses. POSIX; elsewhere no keys are read."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Final, TextIO

from reflecto.phone.text import clip

_ERASE: Final = "\r\x1b[2K"
CHUNK_BYTES: Final = 64


class LiveLine:
    """Prints lines above one that is redrawn in place. Without a terminal the latter is left out."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._drawn = ""

    def columns(self) -> int | None:
        """Return the terminal's width, or None where lines need no breaking."""
        try:
            return os.get_terminal_size(self._out.fileno()).columns or None
        except (OSError, ValueError):  # not a terminal, or not a file at all
            return None

    def print(self, lines: list[str]) -> None:
        """Print whole lines above the live one, which is to be drawn again."""
        if not lines:
            return
        self.draw("")
        self._out.write("".join(f"{line}\n" for line in lines))
        self._out.flush()

    def ring(self) -> None:
        """Sound the terminal's bell, where there is a terminal."""
        if self._out.isatty():
            self._out.write("\a")
            self._out.flush()

    def draw(self, text: str) -> None:
        """Replace the live line; an empty text takes it away."""
        columns = self.columns()
        text = clip(text, columns - 1) if columns else text
        if self._is_live and text != self._drawn:
            self._out.write(_ERASE + text)
            self._out.flush()
            self._drawn = text


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
    import termios  # noqa: PLC0415  (POSIX only)
    import tty  # noqa: PLC0415

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
