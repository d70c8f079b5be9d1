"""Room on the disk: new things are refused before it is full, so that acknowledging and deleting go on working.

Deleting needs room as well: what it overwrites goes through the log first. Should somebody else fill the disk, a file
kept for that moment is given up, and deletes have its room.
"""

import os
import shutil
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

RESERVE_NAME: Final = "reserve"
FREE_MIN_BYTES: Final = 8 * 1024 * 1024  # less than this: nothing new; twice what the log grows to between checkpoints
SMALL_DISK_PART: Final = 16  # on a disk of less than 128 MiB: a sixteenth of it

PAUSE_SECONDS: Final = 10  # between giving the reserve up and taking it again

TIGHT: Final = "the disk is nearly full: nothing new is stored; acknowledging, answering and deleting go on"


class Room:
    """What is left where the store is. `keeps_reserve`: keep that file, as servers do and short commands do not."""

    def __init__(self, folder: Path, *, keeps_reserve: bool = False) -> None:
        self._folder = folder
        self._reserve = folder / RESERVE_NAME
        self._keeps_reserve = keeps_reserve
        self._pause_until = 0.0

    @property
    def log_bytes(self) -> int:
        """How large the log may grow before it is put away: half of what should be free, for the pages in it."""
        return self._measure()[1] // 2

    def is_tight(self, connection: sqlite3.Connection) -> bool:
        """Tell whether only what frees room may be written. The log is put away before that is decided."""
        if not self._lacks_room(connection):
            return False
        put_log_away(connection)
        return self._lacks_room(connection)

    def is_full(self) -> bool:
        """Tell whether the disk has next to nothing left."""
        free, least = self._measure()
        return free < least // 4

    def give_up_reserve(self) -> bool:
        """Let deletes have the room of the reserve. False: there is none."""
        try:
            self._reserve.unlink()
        except OSError:
            return False
        self._pause_until = time.monotonic() + PAUSE_SECONDS
        return True

    def make_reserve(self) -> None:
        """Make the reserve where it is missing and the disk has room for it, smaller where there is little."""
        if not self._keeps_reserve or self._reserve.exists():
            return
        free, least = self._measure()
        size = min(least, free - least // 4)
        if size < least // 4 or time.monotonic() < self._pause_until:
            return
        with suppress(OSError):
            descriptor = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(descriptor, bytes(size))  # zeros, not a hole: the room must be taken
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _lacks_room(self, connection: sqlite3.Connection) -> bool:
        free, least = self._measure()
        if free >= least:
            return False
        (unused,), (page_bytes,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_size")
        )
        # Pages that deletes left behind are filled again, but the log in front of them needs room on the disk.
        return free + unused * page_bytes < least or free < least // 4

    def _measure(self) -> tuple[int, int]:
        """Return the free bytes of the disk, and how many there should be; plenty where that cannot be told."""
        try:
            disk = shutil.disk_usage(self._folder)
        except OSError:
            return FREE_MIN_BYTES, FREE_MIN_BYTES
        return disk.free, min(FREE_MIN_BYTES, disk.total // SMALL_DISK_PART)


def put_log_away(connection: sqlite3.Connection) -> None:
    """Write what is in the log into the store and give its room back, as far as the disk lets that happen."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def is_disk_error(error: BaseException) -> bool:
    """Tell whether the disk took no more: it is full, or the operating system refused a write."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
