"""Disks that take nothing more while a server runs on them, and have room again when told to."""

import errno
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final, Protocol

from tests.e2e.phones import HTTP
from tests.e2e.server_process import ServerProcess

TMPFS_SIZE: Final = "2m"  # room for the store and its first log, not for much more


class Disk(Protocol):
    """Where the server's data folder is."""

    def fill(self, server: ServerProcess) -> None:
        """Let no file grow any more."""

    def free(self, server: ServerProcess) -> None:
        """Let them grow again."""


class FileSizeLimit:
    """The kernel refuses all that this process writes to files: no privileges needed, EFBIG instead of ENOSPC."""

    def fill(self, server: ServerProcess) -> None:
        """Allow files of no bytes."""
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, hard))

    def free(self, server: ServerProcess) -> None:
        """Allow any size."""
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))


class Tmpfs:
    """A small file system that is really full."""

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"

    def fill(self, server: ServerProcess) -> None:  # noqa: ARG002  every process on it is concerned
        """Take all the room."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (65_536, 4_096):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError as error:
                    assert error.errno == errno.ENOSPC  # noqa: PT017  any other is a fault of the test

    def free(self, server: ServerProcess) -> None:  # noqa: ARG002
        """Give it back."""
        self._filler.unlink()


def can_mount(folder: Path) -> bool:
    """Tell whether this process may mount a tmpfs: as root, outside a sandbox."""
    try:
        with mounted_tmpfs(folder):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def mounted_tmpfs(folder: Path, size: str = TMPFS_SIZE) -> Iterator[Path]:
    """Mount a small tmpfs on `folder` while the block runs."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "reflecto-test", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def wait_until_ready(server: ServerProcess, status: int = 200) -> None:
    """Return once /readyz has this status; what it says may be a second old."""
    wait_until(lambda: HTTP.get(f"{server.url}/readyz").status_code == status)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Return once it is so, looked at ten times a second."""
    pause = Event()
    for _ in range(100):
        if is_so():
            return
        pause.wait(0.1)
    raise AssertionError("it did not come about")
