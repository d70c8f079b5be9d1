"""The state file: private (0600 in a folder of 0700), replaced atomically, used by one process at a time."""

import os
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
import platformdirs

from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.phone.state import VERSION, PhoneState

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
STATE_MAX_BYTES: Final = 16 * 2**20  # far above what 4,096 marks and a full set of questions take


class StateError(Exception):
    """The state file cannot be used; the message says why and what helps."""


def default_state_path() -> Path:
    """Return where a phone keeps its state unless told otherwise."""
    return Path(platformdirs.user_data_dir("reflecto", appauthor=False)) / "phone" / "state.json"


class StateFile:
    """One phone's state on disk, locked for as long as the context is open.

    The lock is a file beside it: the state file itself is replaced by every save.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._lock_fd: int | None = None

    def __enter__(self) -> Self:
        """Make the folder and take the lock. Raises: StateError."""
        try:
            self.path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._lock_fd = os.open(self._beside(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        if not _try_lock(self._lock_fd):
            self._unlock()
            raise StateError(f"{self.path} is in use by another `reflecto phone`; end it or pass another --state")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock."""
        self._unlock()

    def load(self) -> PhoneState:
        """Return what was saved last, or an empty state. Tightens loose permissions and notes a warning.

        Raises: StateError if the file is not one of ours.
        """
        try:
            with self.path.open("rb") as file:
                self._tighten(file.fileno())
                raw = file.read(STATE_MAX_BYTES + 1)
        except FileNotFoundError:
            return PhoneState()
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        try:
            state = read_json(raw, PhoneState)
        except UnreadableJsonError:  # its text could quote a secret
            raise StateError(f"{self.path} is not a phone's state file; move it away to start anew") from None
        if state.version != VERSION:
            raise StateError(f"{self.path} was written by another version of reflecto (form {state.version})")
        return state

    def save(self, state: PhoneState) -> None:
        """Replace the file: after a crash at any point there is the old state or the new one, whole.

        Raises: StateError.
        """
        scratch = self._beside(".tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        try:
            with os.fdopen(os.open(scratch, flags, PRIVATE_FILE), "wb") as file:
                if sys.platform != "win32":
                    os.fchmod(file.fileno(), PRIVATE_FILE)  # a scratch file left by someone else keeps its mode
                file.write(msgspec.json.encode(state))
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise StateError(f"{self.path} cannot be written: {error.strerror}") from None

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _tighten(self, fd: int) -> None:
        if sys.platform == "win32":
            return  # access there is by ACL, inherited from the user's folder
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if mode & ~PRIVATE_FILE:
            os.fchmod(fd, PRIVATE_FILE)
            self.warnings.append(
                f"{self.path} could be read by others (mode {mode:o}); it is private now. "
                "If someone may have read it, remove this device and enrol again"
            )

    def _unlock(self) -> None:
        if self._lock_fd is not None:
            os.close(self._lock_fd)  # the lock goes with the descriptor, also when the process is killed
            self._lock_fd = None


def _try_lock(fd: int) -> bool:
    if sys.platform == "win32":
        return True  # no lock there
    import fcntl  # noqa: PLC0415  (POSIX only)

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)  # the rename itself must survive a power cut
    finally:
        os.close(fd)
