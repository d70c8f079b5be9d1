"""Which calls of tools wait on the phone right now, as files that their hooks hold locked on this machine.

Three things need it. Two calls that look the same at the same time are two questions: each takes a number of its own.
A hook that learns that a call is over ends the one that still asks about it, without a word to the server: that one
withdraws its question. And what the agent's terminal has no place for, a hook shows to whoever asks on this machine.
The name of a call's file is a hash, and all it holds is the number of the process; a lock ends with its process,
however that ends.
"""

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

try:
    import fcntl
except ImportError:  # Windows: identical calls share a question, and it stays until its time is over
    fcntl = None  # type: ignore[assignment]  # a module cannot be None, for mypy

SAME_CALLS_MAX: Final = 32  # at the same time
_SHOWN: Final = "shown-"


class OpenCalls:
    """The open calls of this user, in `folder`, which is made when the first call waits."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _default_folder()

    @contextmanager
    def claim(self, call_id: str) -> Iterator[int]:
        """Give this call a number among those with the same id that wait at the same time, from 0.

        It is 0 also where nothing can be locked: a question that is shared is better than none.
        """
        claimed = self._lock_first(call_id)
        if claimed is None:
            yield 0
            return
        number, path, file = claimed
        try:
            yield number
        finally:
            with suppress(OSError):
                path.unlink()
            file.close()

    def end(self, call_id: str) -> None:
        """End the hook of this call that has waited longest: nobody needs its answer any more."""
        if fcntl is None or not self._is_ours():
            return
        for number in range(SAME_CALLS_MAX):
            try:
                file = self._path(call_id, number).open("r+b")
            except OSError:
                continue
            with file:
                if _lock(file):  # whoever wrote it was killed
                    continue
                with suppress(ValueError, OSError):
                    os.kill(int(file.read(20)), signal.SIGTERM)
                return

    @contextmanager
    def showing(self, line: str) -> Iterator[None]:
        """Let `shown` return this line, as long as this process lives."""
        path = self._folder / f"{_SHOWN}{os.getpid()}"
        file = self._lock_own(path)
        if file is None:
            yield
            return
        file.seek(0)
        file.truncate()
        file.write(line.encode())
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
            file.close()

    def shown(self) -> list[str]:
        """Return the lines of all processes that show one."""
        lines = []
        for path in sorted(self._folder.glob(f"{_SHOWN}*")) if fcntl is not None and self._is_ours() else ():
            with suppress(OSError), path.open("r+b") as file:
                if not _lock(file):  # else whoever wrote it was killed
                    lines.append(file.read().decode(errors="replace"))
        return lines

    def _lock_own(self, path: Path) -> IO[bytes] | None:
        if fcntl is None:
            return None
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            return _claim_file(path) if self._is_ours() else None
        return None

    def _lock_first(self, call_id: str) -> tuple[int, Path, IO[bytes]] | None:
        for number in range(SAME_CALLS_MAX):
            path = self._path(call_id, number)
            if (file := self._lock_own(path)) is not None:
                return number, path, file
        return None

    def _is_ours(self) -> bool:
        """Tell whether the folder is there and only this user can write to it."""
        try:
            status = self._folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077

    def _path(self, call_id: str, number: int) -> Path:
        return self._folder / f"{call_id}-{number}"


def _claim_file(path: Path) -> IO[bytes] | None:
    """Return the file, locked, with this process's number in it. None: another process has it."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
        if not _lock(file):
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                file.truncate(0)
                file.write(str(os.getpid()).encode())
                return file
        file.close()  # it was deleted between opening and locking


def _lock(file: IO[bytes]) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _default_folder() -> Path:
    """Return a folder in this user's runtime folder, or in the temporary folder of the system if there is none."""
    own = os.environ.get("XDG_RUNTIME_DIR")
    if own:
        return Path(own) / "reflecto-open-calls"
    import tempfile

    return Path(tempfile.gettempdir()) / f"reflecto-open-calls-{os.getuid() if hasattr(os, 'getuid') else 0}"
