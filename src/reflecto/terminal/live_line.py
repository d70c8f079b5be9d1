"""The last line of a terminal, redrawn in place below what is printed."""

import os
from contextlib import suppress
from typing import TextIO

from reflecto.terminal.columns import cell_width, clip


class LiveLine:
    """Draws one line in place and prints others above it. What is not a terminal gets only those above.

    Every text must be safe to print already. A terminal that went away is no error: what the line is about goes on.
    `default_columns` is for a terminal that does not tell its width; None lets the line be as long as it is.
    """

    def __init__(self, stream: TextIO, default_columns: int | None = None) -> None:
        self._stream = stream
        self._default_columns = default_columns
        self.is_live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._drawn = ""

    def columns(self) -> int | None:
        """Return the terminal's width, or None where lines need no breaking."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or None
        except (OSError, ValueError):  # not a terminal, or not a file at all
            return None

    def rows(self) -> int | None:
        """Return how many lines the terminal has, or None where there is none that scrolls."""
        try:
            return os.get_terminal_size(self._stream.fileno()).lines or None
        except (OSError, ValueError):
            return None

    def draw(self, text: str) -> None:
        """Replace the line; an empty text takes it away."""
        columns = self.columns() or self._default_columns
        fitting = clip(text, columns - 1) if columns else text  # a line that wraps could not be redrawn
        if not self.is_live or fitting == self._drawn:
            return
        # Written over and padded in one go: wiping first would flicker.
        padding = " " * (cell_width(self._drawn) - cell_width(fitting))
        with suppress(OSError):
            self._write(f"\r{fitting}{padding}" + ("" if fitting else "\r"))
        self._drawn = fitting

    def print(self, lines: list[str]) -> None:
        """Print whole lines above the live one, which is to be drawn again. Raises: OSError."""
        if lines:
            self.draw("")
            self._write("".join(f"{line}\n" for line in lines))

    def ring(self) -> None:
        """Sound the terminal's bell, where there is a terminal."""
        if self._stream.isatty():
            self._write("\a")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
