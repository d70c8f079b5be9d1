"""Ctrl-C, SIGTERM, SIGHUP and a caller that has gone, as one exception: a command can withdraw what it started."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_LOOK_MILLISECONDS: Final = 500  # between two looks at who started this


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
    # A socket or a reply that was being made stays half made; from Python 3.13 on its end would be reported on the
    # terminal, behind what the command has to say.
    sys.unraisablehook = _keep_silent
    raise Interrupted(signal_number)


def _keep_silent(_unraisable: "sys.UnraisableHookArgs") -> None:
    pass


@contextmanager
def caller_gone_interrupts() -> Iterator[None]:
    """Send this process SIGTERM when its parent has ended, or nobody reads its standard output any more.

    An agent that no longer needs the answer may close the pipes and send no signal.
    """
    ended = threading.Event()
    if hasattr(select, "poll") and threading.current_thread() is threading.main_thread():
        arguments = (ended, os.getppid(), threading.get_ident())
        threading.Thread(target=_watch, args=arguments, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _watch(ended: threading.Event, parent: int, waiting_thread: int) -> None:
    poller = select.poll()
    with suppress(OSError, ValueError):  # a standard output that is no file
        poller.register(sys.stdout.fileno(), 0)  # its end is reported without asking
    while not poller.poll(_LOOK_MILLISECONDS) and os.getppid() == parent:
        if ended.is_set():
            return
    if not ended.is_set():
        signal.pthread_kill(waiting_thread, signal.SIGTERM)
