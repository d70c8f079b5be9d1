"""`core.ports.counting.Counters` for several processes: exact, in tables that all of them count in.

All hits of a turn of the loop are one statement (`hit_counts` in the migrations): it locks their keys in order, looks,
counts and commits, so no two processes give the same last place away. Its commit waits for no disk: who was let through
then commits something that does, and what was committed before that is on the disk as well.
A window is kept in 60 slots, each of which counts until its last hit has left the window.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Final, cast

import asyncpg

from reflecto.core.ports.counting import CounterStanding, Hit, Window
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.rules.months import month_of, next_month_at
from reflecto.store.postgres.connection import Connection, is_lost
from reflecto.store.postgres.reads import Gathered, Reads
from reflecto.store.postgres.waiting import WAITING_MAX, Waiting

SLOTS: Final = 60
KEYS_AT_ONCE: Final = 100  # locks that one statement may take
STATEMENTS_MAX: Final = 10  # of a kind in one turn: the lease has to be renewed however many wait
TRIES_MAX: Final = 4
SWEEP_SECONDS: Final = 30.0
SWEPT_ROWS: Final = 10_000  # in one statement

_HIT: Final = (
    "SELECT hit, place, reset_at FROM hit_counts($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], "
    "$6::bigint[], $7::bigint, $8::text, $9::integer[], $10::integer[])"
)
_TAKE_BACK: Final = (
    "WITH counted AS (SELECT each.window_name, each.key, each.slot, wanted.hits "
    "FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS wanted (name, key, slot, hits) "
    "JOIN counts AS each ON each.window_name = wanted.name AND each.key = wanted.key AND each.slot = wanted.slot "
    "ORDER BY 1, 2, 3 FOR UPDATE OF each) "
    "UPDATE counts SET count = greatest(0, count - counted.hits) FROM counted "
    "WHERE counts.window_name = counted.window_name AND counts.key = counted.key AND counts.slot = counted.slot"
)
_TAKE_BACK_MONTHLY: Final = (
    "UPDATE monthly_counts SET count = greatest(0, count - wanted.hits) "
    "FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (token_id, month, hits) "
    "WHERE monthly_counts.token_id = wanted.token_id AND monthly_counts.month = wanted.month"
)
_FORGET: Final = "DELETE FROM counts WHERE window_name = $1 AND key = $2"
_STANDING: Final = Gathered(
    "SELECT wanted.place, sum(count)::bigint, min(live_until) FILTER (WHERE count > 0) "
    "FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY "
    "AS wanted (name, key, now, seconds, place) JOIN counts ON window_name = wanted.name AND counts.key = wanted.key "
    "AND live_until > wanted.now AND live_until <= wanted.now + 2 * wanted.seconds GROUP BY wanted.place"
)
_MONTHLY_STANDING: Final = Gathered(
    "SELECT wanted.place, count FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (token_id, month, place) "
    "JOIN monthly_counts ON monthly_counts.token_id = wanted.token_id AND monthly_counts.month >= wanted.month"
)
_SWEEP: Final = (
    "DELETE FROM counts WHERE ctid = ANY(ARRAY(SELECT ctid FROM counts WHERE kept_until <= $1::bigint "
    f"LIMIT {SWEPT_ROWS} FOR UPDATE SKIP LOCKED))"
)
_AGAIN: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)

logger = logging.getLogger(__name__)


class _Wanted(Waiting):
    """Somebody who waits until `hits` are counted, taken back or forgotten; `at` is in Unix seconds."""

    __slots__ = ("at", "hits")

    def __init__(self, hits: Sequence[Hit], at: float = 0.0) -> None:
        super().__init__()
        self.hits = hits
        self.at = at


_Work = Callable[[Connection, list[_Wanted]], Awaitable[None]]


class PostgresCounters:
    """Counts for all processes, on the listener's connection; how keys stand is read on that for reads."""

    def __init__(self, reads: Reads, wake: Callable[[], None]) -> None:
        self._reads = reads
        self._wake = wake
        self._hits: list[_Wanted] = []
        self._taken_back: list[_Wanted] = []
        self._forgotten: list[_Wanted] = []
        self._now = 0.0  # the latest time anybody has counted at
        self._sweep_at = 0.0

    async def start(self, now: float) -> None:
        """Nothing has to be taken up: the database has it."""

    async def flush(self, now: float) -> None:
        """Nothing has to be written down: the database has it."""

    async def hit(self, hits: Sequence[Hit], now: float) -> CounterStanding | None:
        """Count one in each, or none at all. Raises: StoreUnavailableError."""
        self._now = max(self._now, now)
        return cast("CounterStanding | None", await self._do(self._hits, _Wanted(hits, now)))

    async def take_back(self, hits: Sequence[Hit], when: float) -> None:
        """Uncount one in each, which were counted at `when`. Raises: StoreUnavailableError."""
        await self._do(self._taken_back, _Wanted(hits, when))

    async def forget(self, hit: Hit) -> None:
        """Uncount all of this key in this window. Raises: StoreUnavailableError."""
        await self._do(self._forgotten, _Wanted([hit]))

    async def standings(self, hits: Sequence[Hit], now: float) -> list[CounterStanding]:
        """Return how these keys stand. Raises: StoreUnavailableError."""
        return await asyncio.gather(*(self._standing(window, key, now) for window, key in hits))

    async def begin(self, connection: Connection) -> None:
        """Nothing has to be said: whoever waits is served on the new connection."""

    async def turn(self, connection: Connection) -> None:
        """Count what has come."""
        for queue, work in ((self._forgotten, _forget), (self._taken_back, _take_back), (self._hits, _count)):
            for _ in range(STATEMENTS_MAX):
                if queue:
                    await self._serve(queue, work, connection)
        now = asyncio.get_running_loop().time()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            await connection.execute(_SWEEP, int(self._now))

    def due_at(self) -> float:
        """Return when it sweeps next; at once, behind the other duties, while somebody still waits."""
        return 0.0 if self._hits or self._taken_back or self._forgotten else self._sweep_at

    async def end(self, _connection: Connection) -> None:
        """Nothing has to be said."""

    async def _do(self, queue: list[_Wanted], wanted: _Wanted) -> object:
        if len(queue) >= WAITING_MAX:
            raise StoreUnavailableError("the database has stalled")
        queue.append(wanted)
        self._wake()
        return await wanted.result()

    async def _serve(self, queue: list[_Wanted], work: _Work, connection: Connection) -> None:
        """Do the first of `queue` in one statement.

        What was lost with its connection may have happened. So hits are counted again, and nothing is taken back
        again: either way no more pass than may.
        """
        group = _first_of(queue)
        if not group:
            return
        for tries in range(1, TRIES_MAX + 1):
            try:
                await work(connection, group)
            except _AGAIN as error:
                if tries < TRIES_MAX:
                    continue
                _fail(group, error)
            except Exception as error:
                if not is_lost(error, connection):
                    logger.error("store unavailable: %s", error)  # noqa: TRY400  the statement says what was wrong
                    _fail(group, error)
                    return
                if work is _take_back:
                    for each in group:
                        each.succeed(None)
                else:
                    queue[:0] = group
                raise
            return

    async def _standing(self, window: Window, key: str, now: float) -> CounterStanding:
        if window.monthly:
            rows = await self._reads.gathered(_MONTHLY_STANDING, key, month_of(now))
            count, reset_at = rows[0][0] if rows else 0, next_month_at(now)
        else:
            rows = await self._reads.gathered(_STANDING, window.name, key, int(now), window.seconds)
            count, free_at = rows[0] if rows else (0, None)
            reset_at = int(now) + window.seconds if free_at is None else free_at
        return CounterStanding(window, max(0, window.limit - count), reset_at)


def _first_of(queue: list[_Wanted]) -> list[_Wanted]:
    """Take the first of the queue: of the same second, and about no more keys than one statement may lock."""
    group: list[_Wanted] = []
    keys: set[Hit] = set()
    taken = 0
    for wanted in queue:
        if group and (int(wanted.at) != int(group[0].at) or len(keys.union(wanted.hits)) > KEYS_AT_ONCE):
            break
        taken += 1
        if not wanted.future.done():
            group.append(wanted)
            keys.update(wanted.hits)
    del queue[:taken]
    return group


def _fail(group: Iterable[_Wanted], error: Exception) -> None:
    for each in group:
        each.fail(StoreUnavailableError(str(error)))


def _slot_of(window: Window, at: float) -> int:
    return 0 if window.until_quiet or window.monthly else int(at) // _width_of(window)


def _width_of(window: Window) -> int:
    return max(1, window.seconds // SLOTS)


def _kept_until(window: Window, at: float) -> int:
    """Return when a slot that was hit at `at` is swept; for all hits of a slot the same, so that no index changes."""
    ends_at = int(at) if window.until_quiet else (_slot_of(window, at) + 1) * _width_of(window)
    return ends_at + window.seconds


async def _count(connection: Connection, group: Sequence[_Wanted]) -> None:
    """Count in one statement, and tell everybody what came of it."""
    at = group[0].at
    keys = {hit: place for place, hit in enumerate({hit: None for each in group for hit in each.hits}, 1)}
    counted = [(number, keys[hit]) for number, each in enumerate(group, 1) for hit in each.hits]
    rows = await connection.fetch(
        _HIT,
        [window.name for window, _ in keys],
        [key for _, key in keys],
        [window.limit for window, _ in keys],
        [window.seconds for window, _ in keys],
        [_slot_of(window, at) for window, _ in keys],
        [_kept_until(window, at) for window, _ in keys],
        int(at),
        month_of(at),
        [number for number, _ in counted],
        [place for _, place in counted],
    )
    full = {number: (place, reset_at) for number, place, reset_at in rows}
    windows = [window for window, _ in keys]
    for number, each in enumerate(group, 1):
        if number not in full:
            each.succeed(None)
            continue
        place, reset_at = full[number]
        window = windows[place - 1]
        if reset_at is None:  # monthly, or a window that allows nothing
            reset_at = next_month_at(at) if window.monthly else int(at) + window.seconds
        each.succeed(CounterStanding(window, 0, reset_at))


async def _take_back(connection: Connection, group: Sequence[_Wanted]) -> None:
    counted: dict[tuple[str, str, int], int] = {}
    monthly: dict[tuple[str, str], int] = {}
    for each in group:
        for window, key in each.hits:
            if window.monthly:
                of_month = (key, month_of(each.at))
                monthly[of_month] = monthly.get(of_month, 0) + 1
            else:
                slot = (window.name, key, _slot_of(window, each.at))
                counted[slot] = counted.get(slot, 0) + 1
    async with connection.transaction() if counted and monthly else nullcontext():  # all of it or nothing
        if counted:
            names, keys, slots = zip(*counted, strict=True)
            await connection.execute(_TAKE_BACK, list(names), list(keys), list(slots), list(counted.values()))
        if monthly:
            tokens, months = zip(*monthly, strict=True)
            await connection.execute(_TAKE_BACK_MONTHLY, list(tokens), list(months), list(monthly.values()))
    for each in group:
        each.succeed(None)


async def _forget(connection: Connection, group: Sequence[_Wanted]) -> None:
    for window, key in {hit for each in group for hit in each.hits}:
        await connection.execute(_FORGET, window.name, key)
    for each in group:
        each.succeed(None)
