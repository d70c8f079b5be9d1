"""The line that shows what a command waits for, while its main thread waits for the network."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Final, Self, TextIO

from reflecto.terminal.live_line import LiveLine

REFRESH_SECONDS: Final = 1.0
_COLUMNS_DEFAULT: Final = 80


_shown: "list[ProgressLine]" = []  # those that are up in this process


@contextmanager
def aside() -> Iterator[None]:
    """Take every line away while the block prints where it stood, and show it again below that."""
    with ExitStack() as lines:
        for line in _shown:
            lines.enter_context(line.aside())
        yield


class ProgressLine:
    """One line of a terminal, redrawn once a second and wiped at the end. Elsewhere it writes nothing.

    `text` is asked for what to show; it is called from another thread, and what it returns is safe to print.
    """

    def __init__(self, stream: TextIO, text: Callable[[], str]) -> None:
        self._line = LiveLine(stream, _COLUMNS_DEFAULT)
        self._text = text
        self._drawing = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        if self._line.is_live:
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
            self._line.draw("")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while the block prints where it stood."""
        with self._drawing:
            self._line.draw("")
            try:
                yield
            finally:
                if self._thread is not None:
                    self._line.draw(self._text())

    def _run(self) -> None:
        while not self._ended.is_set():
            with self._drawing:
                self._line.draw(self._text())
            self._ended.wait(REFRESH_SECONDS)
