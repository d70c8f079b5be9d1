"""`core.ports.push_lines.PushLines` among several processes: claims stand in devices' subscriptions for some seconds.

A holder says again and again that it is still there. Who comes too late leaves in the row how far the queue has come;
so the holder either sees that when it lets go, or has let go before, and the other one gets it.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from reflecto.store.postgres.connection import Connection
from reflecto.store.postgres.waiting import Waiting

T = TypeVar("T")

LEASE_SECONDS: Final = 30
RENEW_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 0.02  # where another transaction had the row, or there are more than TURN_ROWS
TURN_ROWS: Final = 2_000  # of a kind in one turn, so that others come in between

_UNTIL: Final = f"clock_timestamp() + interval '{LEASE_SECONDS} s'"
_IS_FREE: Final = "(line.process_id IS NULL OR line.process_id = $1 OR line.claimed_until < clock_timestamp())"
_UPDATE: Final = "UPDATE push_subscriptions AS line SET"
_SEEN: Final = "FROM unnest($2::text[], $3::bigint[]) AS seen (device_id, seq) WHERE line.device_id = seen.device_id"
# Nobody waits for a row here, so no two wait for each other: what another transaction has is left for the next turn.
_LOCK: Final = (
    "SELECT device_id FROM push_subscriptions WHERE device_id = ANY($1::text[]) FOR NO KEY UPDATE SKIP LOCKED"
)
_EXISTING: Final = "SELECT device_id FROM push_subscriptions WHERE device_id = ANY($1::text[])"
_DONE: Final = (
    f"{_UPDATE} since_seq = greatest(line.since_seq, seen.seq) {_SEEN.replace('$2', '$1').replace('$3', '$2')}"
)
_LEAVE: Final = (
    f"{_UPDATE} upto_seq = (SELECT last_seq FROM devices WHERE devices.id = line.device_id), "
    f"process_id = CASE WHEN {_IS_FREE} THEN $1 ELSE line.process_id END, "
    f"claimed_until = CASE WHEN {_IS_FREE} THEN clock_timestamp() - interval '1 s' ELSE line.claimed_until END "
    "WHERE line.device_id = ANY($2::text[])"
)
_RELEASE: Final = (
    f"{_UPDATE} process_id = NULL, claimed_until = NULL {_SEEN} AND line.process_id = $1 AND line.upto_seq <= seen.seq "
    "RETURNING line.device_id"
)
_CLAIM: Final = (
    f"{_UPDATE} upto_seq = greatest(line.upto_seq, seen.seq), "
    f"process_id = CASE WHEN {_IS_FREE} THEN $1 ELSE line.process_id END, "
    f"claimed_until = CASE WHEN {_IS_FREE} THEN {_UNTIL} ELSE line.claimed_until END "
    f"{_SEEN} RETURNING line.device_id, line.process_id = $1, line.since_seq"
)
_RENEW: Final = (
    f"{_UPDATE} claimed_until = {_UNTIL} WHERE line.device_id = ANY(ARRAY(SELECT device_id FROM push_subscriptions "
    "WHERE device_id = ANY($2::text[]) AND process_id = $1 FOR NO KEY UPDATE SKIP LOCKED)) RETURNING line.device_id"
)
_LEFT: Final = f"SELECT device_id FROM push_subscriptions WHERE claimed_until < statement_timestamp() LIMIT {TURN_ROWS}"


class _Wanted(Waiting):
    """Somebody who waits to claim or release a device whose queue has come to `seq`."""

    __slots__ = ("seq",)

    def __init__(self, seq: int) -> None:
        super().__init__()
        self.seq = seq


class PostgresPushLines:
    """The devices to which this process pushes. What is asked here is done a moment later, for many at once."""

    def __init__(self, process_id: str, wake: Callable[[], None]) -> None:
        self._process_id = process_id
        self._wake = wake
        self._on_left: Callable[[Collection[str]], None] = lambda _: None
        self._held: dict[str, float] = {}  # until when, by the loop's time
        self._claims: dict[str, _Wanted] = {}
        self._releases: dict[str, _Wanted] = {}
        self._done: dict[str, int] = {}
        self._left: set[str] = set()
        self._has_more = False  # something was left for the next turn
        self._look_at = 0.0

    def when_left(self, callback: Callable[[Collection[str]], None]) -> None:
        """Call `callback` with devices to which another process was pushing that is gone."""
        self._on_left = callback

    async def claim(self, device_id: str, upto_seq: int) -> int | None:
        """Become the process that pushes to the device. Raises: StoreUnavailableError."""
        done_seq: int | None = await self._want(self._claims, device_id, upto_seq)
        return done_seq

    def holds(self, device_id: str) -> bool:
        """Return whether this process still is the one."""
        return asyncio.get_running_loop().time() < self._held.get(device_id, 0)

    def note_done(self, device_id: str, seq: int) -> None:
        """Write down that nothing up to `seq` is to be pushed any more."""
        self._done[device_id] = seq
        self._wake()

    async def release(self, device_id: str, upto_seq: int) -> bool:
        """Leave the device to whoever claims it next. Raises: StoreUnavailableError."""
        is_released: bool = await self._want(self._releases, device_id, upto_seq)
        return is_released

    def leave(self, device_ids: Collection[str]) -> None:
        """Let the claims run out at once, so that whoever looks next takes them up."""
        for each in device_ids:
            self._held.pop(each, None)
            if each in self._claims:
                self._claims[each].succeed(None)
        self._left.update(device_ids)
        self._wake()

    def forget(self, device_id: str) -> None:
        """Renew no claim of the device."""
        self._held.pop(device_id, None)

    async def begin(self, _connection: Connection) -> None:
        """Let the other processes renew what they hold before anything is taken for left."""
        self._look_at = asyncio.get_running_loop().time() + LOOK_SECONDS

    async def turn(self, connection: Connection) -> None:
        """Do what is asked, renew, and look for what others have left."""
        self._has_more = False
        await self._write(connection)
        await self._renew(connection)
        now = asyncio.get_running_loop().time()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            if left := [row[0] for row in await connection.fetch(_LEFT)]:
                self._on_left(left)

    def due_at(self) -> float:
        """Return when to look again, or to go on with what is left of a turn. Claims live longer than that."""
        return asyncio.get_running_loop().time() + AGAIN_SECONDS if self._has_more else self._look_at

    async def end(self, connection: Connection) -> None:
        """Write what is left to be written."""
        await self._write(connection)

    async def _want(self, kind: dict[str, _Wanted], device_id: str, seq: int) -> Any:
        wanted = kind[device_id] = _Wanted(seq)
        self._wake()
        try:
            return await wanted.result()
        finally:
            if kind.get(device_id) is wanted:
                del kind[device_id]

    async def _write(self, connection: Connection) -> None:
        claims, releases = self._some(_awaited(self._claims)), self._some(_awaited(self._releases))
        done = self._some(self._done)
        left = set(self._some(dict.fromkeys(self._left)))
        wanted = {*claims, *releases, *done, *left}
        if not wanted:
            return
        asked = asyncio.get_running_loop().time()
        async with connection.transaction():
            ours = await _ids(connection, _LOCK, wanted)
            busy = await _ids(connection, _EXISTING, wanted - ours)
            if finished := {each: seq for each, seq in done.items() if each in ours}:
                await connection.execute(_DONE, *_columns(finished))
            if leaving := ours & left:
                await connection.execute(_LEAVE, self._process_id, list(leaving))
            released = await self._settle(connection, _RELEASE, releases, ours)
            claimed = await self._settle(connection, _CLAIM, claims, ours)
        ready = wanted - busy
        self._left -= left - busy  # what was left meanwhile is for the next turn
        for device_id in ready & done.keys():
            if self._done[device_id] == done[device_id]:
                del self._done[device_id]
        for device_id in ready & releases.keys():
            is_released = device_id in released or device_id not in ours  # there is no row any more
            if is_released:
                self._held.pop(device_id, None)
            releases[device_id].succeed(is_released)
        for device_id in ready & claims.keys():
            is_ours, since_seq = claimed.get(device_id, (False, 0))
            if is_ours and not claims[device_id].future.done():  # else nobody waits, and it runs out by itself
                self._held[device_id] = asked + LEASE_SECONDS
            claims[device_id].succeed(since_seq if is_ours else None)
        self._has_more = self._has_more or bool(busy)

    def _some(self, waiting: dict[str, T]) -> dict[str, T]:
        """Return as many as one turn should have."""
        self._has_more = self._has_more or len(waiting) > TURN_ROWS
        return dict(islice(waiting.items(), TURN_ROWS))

    async def _settle(
        self, connection: Connection, statement: str, wanted: Mapping[str, _Wanted], ours: set[str]
    ) -> dict[str, Sequence[Any]]:
        """Return what became of those whose rows are ours, by device."""
        seqs = {each: wanted[each].seq for each in ours & wanted.keys()}
        rows = await connection.fetch(statement, self._process_id, *_columns(seqs)) if seqs else []
        return {row[0]: row[1:] for row in rows}

    async def _renew(self, connection: Connection) -> None:
        """Say of what is held that this process is still there; what it has lost runs out."""
        asked = asyncio.get_running_loop().time()
        self._held = {each: until for each, until in self._held.items() if asked < until}
        due_until = asked + LEASE_SECONDS - RENEW_SECONDS
        if due := self._some({each: until for each, until in self._held.items() if until <= due_until}):
            rows = await connection.fetch(_RENEW, self._process_id, list(due))
            self._held |= dict.fromkeys((row[0] for row in rows), asked + LEASE_SECONDS)


def _awaited(wanted: Mapping[str, _Wanted]) -> dict[str, _Wanted]:
    """Return those that nobody has answered: what was done is not done again before its asker has taken it away."""
    return {device_id: each for device_id, each in wanted.items() if not each.future.done()}


async def _ids(connection: Connection, statement: str, device_ids: set[str]) -> set[str]:
    return {row[0] for row in await connection.fetch(statement, list(device_ids))} if device_ids else set()


def _columns(seqs: Mapping[str, int]) -> tuple[list[str], list[int]]:
    return list(seqs), list(seqs.values())
