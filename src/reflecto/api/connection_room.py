"""How many connections there may be: each is an open file, and a process may have only so many of those.

Without a bound the system refuses the next one, whichever it is: a client's, whose connection would be closed without a
word, or the database's.
"""

from typing import Final

from reflecto.core.events import CONNECTIONS_FREE, CONNECTIONS_FULL

RESERVED_FILES: Final = 96  # for the database, pushes, callbacks, the loop; a quiet server has some 20
TOLD_MAX: Final = 32  # connections beyond the bound that are kept open to be told why
FREE_SHARE: Final = 0.9  # of the bound: below, it is over


class ConnectionRoom:
    """Counts against a bound; the log hears once that it is reached, and once that there is room again.

    `open_files_max` is how many files the process may have open.
    """

    def __init__(self, open_files_max: int) -> None:
        self._open_files_max = open_files_max
        self._connections_max = max(open_files_max - RESERVED_FILES - TOLD_MAX, open_files_max // 2)
        self._is_full = False

    def excess(self, connections: int) -> int:
        """Return by how many connections there are too many, now that one was added."""
        excess = connections - self._connections_max
        if excess > 0 and not self._is_full:
            self._is_full = True
            CONNECTIONS_FULL.log(open=connections - 1, files_max=self._open_files_max)
        return max(0, excess)

    def lost(self, connections: int) -> None:
        """Note that a connection has ended; `connections` are left."""
        if self._is_full and connections <= self._connections_max * FREE_SHARE:
            self._is_full = False
            CONNECTIONS_FREE.log(open=connections)
