"""The line that shows how long a question is still open, while the main thread waits for the network."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Final, Self, TextIO

from reflecto.phone.text import cell_width, clip

REFRESH_SECONDS: Final = 1.0


_shown: "list[LiveLine]" = []  # those that are up in this process


@contextmanager
def aside() -> Iterator[None]:
    """Take every line away while the block prints where it stood, and show it again below that."""
    with ExitStack() as lines:
        for line in _shown:
            lines.enter_context(line.aside())
        yield


class LiveLine:
    """One line of a terminal, rewritten in place once a second and wiped at the end. Elsewhere it writes nothing.

    `text` is asked for what to show; it is called from another thread, and what it returns is safe to print.
    """

    def __init__(self, stream: TextIO, text: Callable[[], str]) -> None:
        self._stream = stream
        self._text = text
        self._shown = ""
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
            _shown.append(self)
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
            _shown.remove(self)
            self._thread = None
            self._show("")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do so with this one."""
        with self._writing:
            self._show("")
            try:
                yield
            finally:
                if self._thread is not None:
                    self._show(self._text())

    def _run(self) -> None:
        while not self._ended.is_set():
            with self._writing:
                self._show(self._text())
            self._ended.wait(REFRESH_SECONDS)

    def _show(self, text: str) -> None:
        fitting = clip(text, self._columns() - 1)  # a line that wraps could not be rewritten
        if fitting == self._shown:
            return
        # Written over and padded in one go: wiping first would flicker.
        padding = " " * (cell_width(self._shown) - cell_width(fitting))
        with suppress(OSError):  # the terminal went away; what it was about goes on
            self._stream.write(f"\r{fitting}{padding}" + ("" if fitting else "\r"))
            self._stream.flush()
        self._shown = fitting

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80
