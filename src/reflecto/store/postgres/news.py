"""News between processes: a row in each transaction that changes something, and a hint after it on another connection.

Not NOTIFY inside the transaction: it holds one lock of the whole database until a standby has answered. The hint may be
lost; rows are looked for each second as well.
"""

from collections.abc import Callable
from typing import Final

from reflecto.core.ports.wakeups import News
from reflecto.store.postgres.changed import Changed
from reflecto.store.postgres.connection import Connection

_TELL: Final = (
    "INSERT INTO news (process_id, device_ids, watched_ids, ended_ids, cancelled_calls) "
    "VALUES ($1, $2::text[], $3::text[], $4::text[], '{}')"
)


class NewsFeed:
    """Tells the other processes of this one's transactions, and this one of theirs."""

    def __init__(self, process_id: str) -> None:
        self._process_id = process_id
        self._on_news: Callable[[News], None] = lambda _: None

    def when_heard(self, callback: Callable[[News], None]) -> None:
        """Call `callback` with what other processes have changed."""
        self._on_news = callback

    async def say(self, connection: Connection, changed: Changed) -> None:
        """Add the row of the open transaction."""
        if changed:
            await connection.execute(
                _TELL, self._process_id, list(changed.device_ids), list(changed.watched_ids), list(changed.ended_ids)
            )
