"""`reflecto phone` as people and scripts start it: on a pseudo-terminal, or with pipes."""

import contextlib
import fcntl
import json
import os
import pty
import queue
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.e2e.server_process import REFLECTO, environment

WAIT_SECONDS: Final = 20.0


class Terminal:
    """A program whose keyboard and screen are a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 100) -> None:
        self._screen_fd, self._program_fd = pty.openpty()
        fcntl.ioctl(self._program_fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.modes_before = termios.tcgetattr(self._program_fd)
        self.shown = ""
        self._process = subprocess.Popen(
            [*REFLECTO, *arguments],
            stdin=self._program_fd,
            stdout=self._program_fd,
            stderr=self._program_fd,
            env=environment({"TERM": "xterm"}),
            start_new_session=True,
        )

    def press(self, keys: bytes) -> None:
        os.write(self._screen_fd, keys)

    def read_until(self, text: str, *, times: int = 1, patience_seconds: float = WAIT_SECONDS) -> str:
        """Wait until `text` has been written that often; return all that was shown."""
        deadline = time.monotonic() + patience_seconds
        while self.shown.count(text) < times:
            readable, _, _ = select.select([self._screen_fd], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise AssertionError(f"{text!r} was not shown:\n{self.shown}")
            try:
                self.shown += os.read(self._screen_fd, 65536).decode()
            except OSError:
                raise AssertionError(f"the terminal was closed before {text!r}:\n{self.shown}") from None
        return self.shown

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        return self._process.wait(WAIT_SECONDS)

    @property
    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._program_fd)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(WAIT_SECONDS)
        for fd in (self._screen_fd, self._program_fd):
            with contextlib.suppress(OSError):
                os.close(fd)


class Script:
    """A program that prints a line of JSON per event into a pipe."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [*REFLECTO, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self.lines: list[str] = []
        self.errors = ""
        self._printed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._readers = [threading.Thread(target=target) for target in (self._read_lines, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._printed.put(line)
        self._printed.put("")

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as errors:
            self.errors = errors.read()

    def line(self, text: str) -> str:
        """Wait for the next line that holds `text`."""
        while True:
            line = self._printed.get(timeout=WAIT_SECONDS)
            self.lines.append(line)
            if not line:
                raise AssertionError(f"it ended before {text!r}:\n{''.join(self.lines)}{self.errors}")
            if text in line:
                return line

    def event(self, name: str) -> dict[str, Any]:
        """Wait for the next event of this name."""
        event: dict[str, Any] = json.loads(self.line(f'{{"event": "{name}"'))
        return event

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        code = self._process.wait(WAIT_SECONDS)
        for reader in self._readers:
            reader.join(WAIT_SECONDS)
        return code

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self.wait()


@contextmanager
def terminal(*arguments: object, columns: int = 100) -> Iterator[Terminal]:
    program = Terminal(*map(str, arguments), columns=columns)
    try:
        yield program
    finally:
        program.close()


@contextmanager
def script(*arguments: object) -> Iterator[Script]:
    program = Script(*map(str, arguments))
    try:
        yield program
    finally:
        program.close()
