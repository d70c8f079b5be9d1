"""COMMIT, believed only when the server says nothing against it."""

from typing import Any, Final

from reflecto.store.postgres.connection import Connection

_TOUCH: Final = "UPDATE writers SET seen_at = clock_timestamp() WHERE id = $1"


class Commits:
    """Commits on one connection whose row in `writers` is `name`.

    Where a wait for the standby is cancelled, the server commits without it and says so in a warning only. Its text may
    be translated, so any warning counts. A later commit without one proves the earlier ones, which the log has before.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._warned = False
        connection.add_log_listener(self._hear)

    async def commit(self) -> None:
        """Commit the open transaction, and again with next to nothing in it for as long as the server warns.

        Never to be cancelled: a cancelled COMMIT goes on without the standby.
        """
        self._warned = False
        await self._connection.execute("COMMIT")
        while self._warned:
            self._warned = False
            await self._connection.execute(_TOUCH, self._name)

    def _hear(self, _connection: object, message: Any) -> None:
        if "WARNING" in {getattr(message, "severity_en", None), getattr(message, "severity", None)}:
            self._warned = True
