"""Text for terminals: what a server or a file says must not move the cursor, change colours or hide."""

import os
import threading
import unicodedata
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

REFRESH_SECONDS: Final = 1.0
_JOINERS: Final = "\u200c\u200d"  # part of emoji and of several scripts
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, bidirectional marks, surrogates, line ends


def printable(text: str) -> str:
    r"""Return `text` with every control and invisible formatting character shown as its escape, such as \x1b."""
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _UNSAFE and char not in _JOINERS
        else char
        for char in text
    )


def clock_text(seconds: float) -> str:
    """Return a time left as a person reads it: 9:41, or 1:02:03 from an hour up."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class LiveLine:
    """One line of a terminal, rewritten in place once a second and wiped at the end. Elsewhere it writes nothing.

    `text` is asked for what to show; it is called from another thread.
    """

    def __init__(self, stream: TextIO, text: Callable[[], str]) -> None:
        self._stream = stream
        self._text = text
        self._shown = ""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        if stream.isatty() and os.environ.get("TERM") != "dumb":
            self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Stop, and leave the terminal as it was. Calling it again does nothing."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._show("")

    def _run(self) -> None:
        while not self._ended.is_set():
            self._show(self._text())
            self._ended.wait(REFRESH_SECONDS)

    def _show(self, text: str) -> None:
        fitting = text[: self._columns() - 1]  # a line that wraps could not be rewritten
        if fitting == self._shown:
            return
        # Written over and padded in one go: wiping first would flicker.
        padding = " " * (len(self._shown) - len(fitting))
        end = "\r" if not fitting else ""
        self._stream.write(f"\r{fitting}{padding}{end}")
        self._stream.flush()
        self._shown = fitting

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80
