"""The data folder: made at first start, its files private, and the secrets that are in it."""

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import ClassVar, Final

KEY_FILE_NAME: Final = "server.key"
VAPID_FILE_NAME: Final = "vapid.key"

logger = logging.getLogger(__name__)


class DataFolderError(Exception):
    """The data folder cannot be used as it is; the message says why and what to do."""


class NoServerHereError(DataFolderError):
    """No server has run in the folder that was named."""

    exit_code: ClassVar[int] = 2  # what the commands exit with


def make_folder(folder: Path) -> None:
    """Make the folder if it is missing; warn where others can change it. Raises: DataFolderError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = folder.stat().st_mode
    except OSError as error:
        raise DataFolderError(f"cannot make the data folder {folder}: {error.strerror}") from None
    if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        logger.warning("others can replace the files in %s; chmod 700 it", folder)


def require_file(path: Path) -> None:
    """Refuse a folder that no server has run in. Raises: NoServerHereError."""
    if path.is_file():
        return
    raise NoServerHereError(
        f"no server has run in {path.parent}: there is no {path.name}. If yours is elsewhere, name its data folder "
        "with --data or REFLECTO_DATA, or its database with --store or REFLECTO_STORE; `reflecto serve` makes a new one"
    )


def make_files_private(folder: Path) -> None:
    """Close what others can read, as a restored copy may be. The log beside the store gets the mode of the store."""
    for path in sorted(folder.glob("*.sqlite3*")):
        _make_private(path, "the store")


def give_files_to_owner(folder: Path) -> None:
    """As root, let the folder's files belong to whom the folder belongs: its server could not open them otherwise.

    Links stay as they are: that user may have made them, and where they lead is not theirs.
    """
    if os.name != "posix" or os.geteuid() != 0 or not folder.exists():
        return
    owner = folder.stat()
    for path in folder.iterdir():
        with suppress(OSError):  # gone meanwhile, or a file system without owners
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid != owner.st_uid:
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def read_secret(path: Path, length: int) -> bytes:
    """Return the secret in a file, which is closed to others by that. Raises: DataFolderError."""
    try:
        _make_private(path, "the key")
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise DataFolderError(f"cannot read {path}: {error}") from None
    if len(secret) != length:
        raise damaged(path)
    return secret


def _make_private(path: Path, what: str) -> None:
    """Close a file that others can read, as one copied back from a backup may be."""
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        with suppress(OSError):  # not its owner, or a read-only file system: it can still be used
            path.chmod(0o600)
        logger.warning("others could read %s in %s; they may have it", what, path)


def damaged(path: Path) -> DataFolderError:
    """Return the error for a secret that is none."""
    return DataFolderError(f"{path} is damaged; restore it from a backup")


def write_secret_once(path: Path, secret: bytes) -> None:
    """Write it durably with mode 0600, unless there is one; when two processes start at once, the first one's stays.

    Raises: DataFolderError.
    """
    if path.exists():
        return
    try:
        # Mode 0600, gone when the block ends. No name of it can be left over from a start that was killed.
        with NamedTemporaryFile("w", dir=path.parent, prefix=f"{path.name}.") as draft:
            draft.write(secret.hex() + "\n")
            draft.flush()
            os.fsync(draft.fileno())
            with suppress(FileExistsError):
                os.link(draft.name, path)
        sync_folder(path.parent)
    except OSError as error:
        raise DataFolderError(f"cannot write {path}: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Make new names in the folder durable."""
    if os.name == "nt":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
