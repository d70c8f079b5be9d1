"""The downloads folder: what is saved there is whole, private, replaces nothing, and lies nowhere else."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

import platformdirs

from reflecto.contract.filenames import has_no_place_in_name, is_safe_filename

PRIVATE_FILE: Final = 0o600
NAME_MAX_BYTES: Final = 255  # of most file systems; a name of the longest allowed may take 480
COPIES_MAX: Final = 10_000
_FALLBACK: Final = "document.txt"
_REPLACEMENT: Final = "_"


class DownloadError(Exception):
    """The document could not be saved; the message says why."""


def default_downloads_path() -> Path:
    """Return the platform's downloads folder."""
    return Path(platformdirs.user_downloads_dir())


class Downloads:
    """One folder, made when the first document comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, filename: str, content: str) -> Path:
        """Save a text under its name, or under one like `report (2).txt`, and return where. Raises: DownloadError."""
        name = safe_name(filename)
        draft = self.folder / f".reflecto-{secrets.token_hex(8)}.part"  # whole before it has a name to be found by
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                _write_durably(draft, content.encode())
                return self._give_name(draft, name)
            finally:
                with contextlib.suppress(OSError):
                    draft.unlink()
        except OSError as error:
            raise DownloadError(f"{self.folder}: {error.strerror or error}") from None

    def _give_name(self, draft: Path, name: str) -> Path:
        for number in range(1, COPIES_MAX + 1):
            target = self.folder / numbered(name, number)
            try:
                _move_beside_nothing(draft, target)
            except FileExistsError:
                continue
            return target
        raise DownloadError(f"{self.folder}: there are {COPIES_MAX} files called {name} already")


def safe_name(filename: str) -> str:
    """Return the name if a server may let it through, else a harmless one made of it.

    What is made of it is a text file, whatever ending it claimed to have.
    """
    if is_safe_filename(filename):
        return filename
    segment = filename.replace("\\", "/").rpartition("/")[2]
    harmless = "".join(_REPLACEMENT if has_no_place_in_name(char) else char for char in segment).strip(". ")
    made = f"{_REPLACEMENT}{harmless[:80]}.txt"
    return made if is_safe_filename(made) else _FALLBACK


def numbered(name: str, number: int) -> str:
    """Return the name of the `number`-th file that is to be called so, cut between code points where it is too long."""
    stem, dot, extension = name.rpartition(".")
    ending = (f" ({number})" if number > 1 else "") + dot + extension
    room = NAME_MAX_BYTES - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore") + ending


def _write_durably(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, PRIVATE_FILE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _move_beside_nothing(draft: Path, target: Path) -> None:
    """Rename the draft in one step, unless anything has that name, even a broken link. Raises: FileExistsError."""
    if os.name == "nt":
        draft.rename(target)  # there it refuses to replace
        return
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, such as a USB stick's
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))  # the name is taken from here on
        draft.replace(target)
