"""Ctrl-C, SIGTERM and SIGHUP as an exception, so that a command can withdraw what it started."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(BaseException):
    """The command was told to stop. `exit_code` is 128 + the signal's number.

    Like KeyboardInterrupt it is no error: no `except Exception` takes it.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.strsignal(signal_number))
        self.exit_code = 128 + signal_number


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Raise Interrupted at each of the signals, except those that are ignored (nohup, a background job)."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                previous[number] = signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _raise(signal_number: int, _frame: FrameType | None) -> NoReturn:
    raise Interrupted(signal_number)
