"""A real `reflecto` process, started and observed from outside."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final, Self

REFLECTO: Final = (sys.executable, "-m", "reflecto.cli.main")
READY_SECONDS: Final = 20  # a bound for a busy machine, not a promise; bench/start_up.py measures
STOP_SECONDS: Final = 20


def crowding() -> float:
    """Return how many want each CPU of this machine, at least 1: by that much everything takes longer."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without settings that would reach the server unasked."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REFLECTO_")}
    return kept | {"PYTHONWARNINGS": "default::ResourceWarning"} | dict(extra or {})


def run_reflecto(
    *arguments: str | Path, env: Mapping[str, str] | None = None, prefix: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself and return its output and exit code. `prefix` goes before the program."""
    command = [*prefix, *REFLECTO, *map(str, arguments)]
    return subprocess.run(
        command,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


class ServerProcess:
    """`reflecto serve` on a free port of loopback; `with` kills what is still running at the end.

    `ready` is the JSON line it printed when it accepted requests. `program` may stand in for `reflecto`.
    """

    def __init__(
        self, data: Path, *options: str, env: Mapping[str, str] | None = None, program: Sequence[str] = REFLECTO
    ) -> None:
        command = [*program, "serve", "--data", str(data), "--port", "0", "--json", *options]
        self.data = data
        self._process = subprocess.Popen(
            command,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._log: list[str] = []
        self._printed: SimpleQueue[str] = SimpleQueue()
        self._readers = [
            self._read(self._process.stdout, self._printed.put),
            self._read(self._process.stderr, self._log.append),
        ]
        try:
            self.ready: dict[str, Any] = json.loads(self._printed.get(timeout=READY_SECONDS))
        except (Empty, ValueError):
            self.close()
            raise AssertionError(f"the server did not become ready:\n{self.log}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return where it listens."""
        return str(self.ready["url"])

    @property
    def port(self) -> int:
        """Return the port it took."""
        return int(self.url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    @property
    def log(self) -> str:
        """Return what it has written to standard error; complete once the process has ended."""
        return "".join(self._log)

    @property
    def complaints(self) -> list[str]:
        """Return the lines of the log that tell of a fault; none belongs to a normal day."""
        return [line for line in self.log.splitlines() if re.search(r" ERROR |^Traceback|Warning: ", line)]

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended."""
        return self._process.poll() is None

    def memory_kib(self, *, peak: bool = False) -> int:
        """Return its resident memory, now or at its highest (Linux)."""
        status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        found = re.search(rf"^{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB", status, re.MULTILINE)
        assert found is not None
        return int(found[1])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, wait for the end and return the exit code."""
        self._process.send_signal(how)
        code = self._process.wait(STOP_SECONDS)
        self._join_readers()
        return code

    def kill(self) -> None:
        """End it the way a power cut would: nothing of it runs again."""
        self.stop(signal.SIGKILL)

    def close(self) -> None:
        """Kill it if it still runs."""
        if self.is_running:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        self._join_readers()

    def _read(self, stream: IO[str] | None, take: Any) -> Thread:
        assert stream is not None

        def read() -> None:
            with stream, suppress(ValueError):  # closed while reading
                for line in stream:
                    take(line)
            take("")

        thread = Thread(target=read, daemon=True)
        thread.start()
        return thread

    def _join_readers(self) -> None:
        for reader in self._readers:
            reader.join(STOP_SECONDS)
