"""News between processes: a row in each transaction that changes something, and a hint after it on another connection.

Not NOTIFY inside the transaction: it holds one lock of the whole database until a standby has answered. The hint may be
lost; rows are looked for each second as well. A look reads the rows of transactions that the look before did not see,
by its snapshot: those under way then, and those that began since. So in whichever order transactions commit none is
missed, and one that stays open for long, anywhere in the cluster, makes no look longer.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Final

from reflecto.core.ports.wakeups import News
from reflecto.store.postgres.changed import Changed
from reflecto.store.postgres.connection import Connection

HINT_SECONDS: Final = 0.002  # at most so often
LOOK_SECONDS: Final = 1.0
SWEEP_SECONDS: Final = 5.0
KEPT_SECONDS: Final = 60  # how long a row lives; who has not looked for half of that takes everything for changed
CANCELLED_MAX: Final = 1_000  # that wait to be told while the database is away; the rest ends by itself
SWEPT_ROWS: Final = 10_000  # in one statement

_CHANNEL: Final = "reflecto_news"
_TELL: Final = (
    "INSERT INTO news (process_id, device_ids, watched_ids, ended_ids, cancelled_calls) "
    "VALUES ($1, $2::text[], $3::text[], $4::text[], $5::text[])"
)
_POSITION: Final = "SELECT pg_current_snapshot()::text"
_LOOK: Final = (
    "SELECT look.position, device_ids, watched_ids, ended_ids, cancelled_calls "
    f"FROM ({_POSITION} AS position) AS look LEFT JOIN news ON process_id <> $2 "
    "AND (xact >= pg_snapshot_xmax($1::text::pg_snapshot) "
    "OR xact = ANY(ARRAY(SELECT pg_snapshot_xip($1::text::pg_snapshot))))"
)
_SWEEP: Final = (
    "DELETE FROM news WHERE ctid = ANY(ARRAY(SELECT ctid FROM news "
    f"WHERE at < clock_timestamp() - interval '{KEPT_SECONDS} s' LIMIT {SWEPT_ROWS} FOR UPDATE SKIP LOCKED))"
)


class NewsFeed:
    """Tells the other processes of this one's transactions, and this one of theirs. `wake` wakes the listener."""

    def __init__(self, process_id: str, wake: Callable[[], None]) -> None:
        self._process_id = process_id
        self._wake = wake
        self._on_news: Callable[[News], None] = lambda _: None
        self._position = ""  # the snapshot of the last look
        self._cancelled: list[str] = []
        self._hint_is_wanted = False
        self._was_hinted = False
        self._hint_at = 0.0
        self._look_at = 0.0
        self._looked_at = 0.0
        self._sweep_at = 0.0

    async def say(self, connection: Connection, changed: Changed) -> None:
        """Add the row of the open transaction."""
        if changed:
            await self._say(connection, changed, ())

    def hint(self) -> None:
        """Let the other processes look soon: a transaction with news has committed."""
        self._hint_is_wanted = True
        self._wake()

    def cancel_elsewhere(self, calls: Collection[str]) -> None:
        """Tell the other processes that these calls are wanted no more."""
        self._cancelled += calls
        del self._cancelled[:-CANCELLED_MAX]
        self._wake()

    def when_heard(self, callback: Callable[[News], None]) -> None:
        """Call `callback` with what other processes have changed."""
        self._on_news = callback

    async def begin(self, connection: Connection) -> None:
        """Listen from here on, and take everything for changed that was before."""
        own = connection.get_server_pid()

        def hear(_connection: object, sender: int, _channel: str, _payload: object) -> None:
            if sender != own:
                self._was_hinted = True
                self._wake()

        await connection.add_listener(_CHANNEL, hear)
        await self._start_over(connection)

    async def turn(self, connection: Connection) -> None:
        """Say and hint what is to be said, and look where something may have come."""
        now = asyncio.get_running_loop().time()
        if calls := list(self._cancelled):
            await self._say(connection, Changed(), calls)
            del self._cancelled[: len(calls)]
            self._hint_is_wanted = True
        if self._hint_is_wanted and now >= self._hint_at:
            self._hint_is_wanted = False
            self._hint_at = now + HINT_SECONDS
            await connection.execute(f"NOTIFY {_CHANNEL}")
        if self._was_hinted or now >= self._look_at:
            self._was_hinted = False
            self._look_at = now + LOOK_SECONDS
            await self._look(connection)
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            await connection.execute(_SWEEP)

    def due_at(self) -> float:
        """Return when a look is due, or the next hint."""
        return min(self._look_at, self._hint_at) if self._hint_is_wanted else self._look_at

    async def end(self, connection: Connection) -> None:
        """Hint at what was committed last."""
        if self._hint_is_wanted:
            await connection.execute(f"NOTIFY {_CHANNEL}")

    async def _say(self, connection: Connection, changed: Changed, cancelled_calls: Collection[str]) -> None:
        ids = (changed.device_ids, changed.watched_ids, changed.ended_ids, cancelled_calls)
        await connection.execute(_TELL, self._process_id, *map(list, ids))

    async def _start_over(self, connection: Connection) -> None:
        self._position = await connection.fetchval(_POSITION)
        self._looked_at = asyncio.get_running_loop().time()
        self._on_news(News(everything=True))

    async def _look(self, connection: Connection) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._looked_at > KEPT_SECONDS / 2:  # this process stood still, and rows may be gone
            await self._start_over(connection)
            return
        rows: list[Any] = await connection.fetch(_LOOK, self._position, self._process_id)
        self._looked_at = now
        self._position = rows[0][0]
        fresh = [row for row in rows if row[1] is not None]
        if fresh:
            device_ids, watched_ids, ended_ids, cancelled_calls = (
                {each for row in fresh for each in row[column]} for column in range(1, 5)
            )
            self._on_news(
                News(
                    device_ids=device_ids,
                    watched_ids=watched_ids,
                    ended_ids=ended_ids,
                    cancelled_calls=cancelled_calls,
                )
            )
