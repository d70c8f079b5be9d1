"""Noticing that whoever started this command no longer waits for it."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_LOOK_MILLISECONDS: Final = 500


@contextmanager
def departure_interrupts() -> Iterator[None]:
    """Send this process SIGTERM when its parent is gone, or nobody reads its standard output any more.

    An agent that has its decision from elsewhere may just close its ends, without a signal.
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
