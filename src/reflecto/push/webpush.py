"""Pushes what the queues hold, in the background. Source: devices.md "Push".

As with a stream, the buffer is the queue in the store: what is kept here of a device is how far its pushes have come.
One push of a device is under way at a time, so they arrive in order and a push service that fails is left alone. Of
several processes the one that has claimed the device's line pushes to it, whichever queued something.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from typing import Final

import msgspec

from reflecto.contract.limits import PUSH_GRACE_SECONDS
from reflecto.core.clock import Clock
from reflecto.core.model import PushTarget
from reflecto.core.ports.metrics import Counter
from reflecto.core.ports.presence import Presence
from reflecto.core.ports.push_lines import PushLines
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.push.next_push import BURST_ENTRIES, Push, next_push
from reflecto.push.sender import Outcome, PushSender
from reflecto.push.slots import FairSlots
from reflecto.push.vapid import origin_of

SENDS_AT_ONCE: Final = 64  # of all owners; each holds a connection
ATTEMPTS_MAX: Final = 8  # of one push: the last is some 14 minutes after the first
FIRST_RETRY_SECONDS: Final = 2
RETRY_MAX_SECONDS: Final = 300
START_GRACE_SECONDS: Final = 5  # after a restart, for streams to come back before anything is pushed
MARKS_MAX: Final = 64  # of one device; what comes faster shares the last one

logger = logging.getLogger(__name__)


class _Mark(msgspec.Struct):
    """Push what is not acknowledged up to `seq` at `due` (Unix seconds)."""

    seq: int
    due: float
    after_restart: bool = False  # everything in one wake-up, and only if no stream has come back


class _Line(msgspec.Struct):
    """The pushes of one device while there are some to make: up to which entry they are done, and what is due when."""

    is_claimed: bool = False
    seen_seq: int = 0  # how far the queue had come
    done_seq: int = 0  # pushed, or not to be pushed any more
    grown: bool = False  # the queue may hold something behind the last mark
    marks: deque[_Mark] = msgspec.field(default_factory=deque)
    happened: asyncio.Event = msgspec.field(default_factory=asyncio.Event)  # `grown` was set
    task: asyncio.Task[None] | None = None
    trying_seq: int = 0
    attempts: int = 0  # at the push of `trying_seq`
    bare_seq: int = 0  # this one was too large, so only its number is pushed

    def grow(self) -> None:
        """Look again at what the queue holds."""
        self.grown = True
        self.happened.set()

    def add_mark(self, seq: int, due: float) -> None:
        """Push up to `seq` too; what was marked before is not due later."""
        if len(self.marks) >= MARKS_MAX:
            self.marks.pop()
        for mark in self.marks:
            mark.due = min(mark.due, due)
        self.marks.append(_Mark(seq, due))


class WebPush:
    """The pushes of one process. Every method is called on the event loop."""

    def __init__(self, store: Store, claims: PushLines, presence: Presence, sender: PushSender, clock: Clock) -> None:
        self._store = store
        self._claims = claims
        self._presence = presence
        self._sender = sender
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._slots = FairSlots(SENDS_AT_ONCE)
        self._closing = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self.outcomes = Counter()  # of attempts, by the outcome's name

    async def start(self) -> None:
        """Push what is queued from now on; a device that still has something waiting is woken once, and soon.

        Raises: StoreUnavailableError.
        """
        self._claims.when_left(self.queues_grew)
        await self._push_backlog()

    def look_for_backlog(self) -> None:
        """Push what a process that is gone has queued and not begun to push."""
        self._looking = asyncio.create_task(self._look_for_backlog())

    async def _look_for_backlog(self) -> None:
        with suppress(StoreUnavailableError):  # the next process that starts looks too
            await self._push_backlog()

    async def _push_backlog(self) -> None:
        for backlog in await self._store.list_push_backlog(self._clock.now()):
            line = self._line_of(backlog.device_id)
            if line is not None and not line.grown and not line.marks:
                line.marks.append(_Mark(backlog.last_seq, self._clock.now() + START_GRACE_SECONDS, after_restart=True))

    async def close(self) -> None:
        """Cancel pushes under way; what was not pushed stays in the queues, and another process may go on with it."""
        self._closing.set()
        undone = list(self._lines)
        working = (self._looking, *(line.task for line in self._lines.values()))
        tasks = [task for task in working if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._claims.leave(undone)
        await self._sender.close()

    def queues_grew(self, device_ids: Collection[str]) -> None:
        """Push what was added to the queues of these devices; one without a subscription gets no push."""
        for device_id in device_ids:
            if (line := self._line_of(device_id)) is not None:
                line.grow()

    def queues_grew_elsewhere(self, device_ids: Collection[str]) -> None:
        """Push what another process has added, where this one pushes to the device; else the other one does."""
        for device_id in device_ids:
            if device_id in self._lines:
                self._lines[device_id].grow()

    def _line_of(self, device_id: str) -> _Line | None:
        """Return the device's line, which is worked on from the next await on; None once this process stops."""
        if device_id not in self._lines and not self._closing.is_set():
            line = self._lines[device_id] = _Line()
            line.task = asyncio.create_task(self._work(device_id, line))
        return self._lines.get(device_id)

    async def _work(self, device_id: str, line: _Line) -> None:
        try:
            while line.grown or line.marks or not await self._let_go(device_id, line):
                await self._step(device_id, line)
        except StoreUnavailableError:
            self._claims.leave([device_id])
        except Exception:
            logger.exception("pushing failed")
            self._claims.forget(device_id)
        finally:
            del self._lines[device_id]

    async def _let_go(self, device_id: str, line: _Line) -> bool:
        """Leave the line to whoever queues next; False where something was queued before."""
        if line.is_claimed and not await self._claims.release(device_id, line.seen_seq):
            line.grown = True
        line.is_claimed = False
        return not line.grown

    async def _step(self, device_id: str, line: _Line) -> None:
        """Claim the line and mark what has grown, or wait for the first mark's time, or push up to it."""
        now = self._clock.now()
        if line.grown or not line.is_claimed or not self._claims.holds(device_id):
            await self._look(device_id, line)
        elif now < line.marks[0].due:
            await self._clock.wait(line.happened, line.marks[0].due)
        else:
            await self._push(device_id, line, line.marks[0])

    async def _look(self, device_id: str, line: _Line) -> None:
        has_grown, line.grown = line.grown, False
        line.happened.clear()
        target = await self._store.find_push_target(device_id)
        if target is None:
            self._forget(device_id, line)
            return
        line.seen_seq = target.last_seq
        if not line.is_claimed or not self._claims.holds(device_id):
            done_seq = await self._claims.claim(device_id, target.last_seq)
            line.is_claimed = done_seq is not None
            if done_seq is None:  # another process pushes to it, and knows of this
                line.marks.clear()
                return
            line.done_seq = max(line.done_seq, done_seq)
        if has_grown and target.last_seq > self._begin(line, target):
            grace_seconds = PUSH_GRACE_SECONDS if await self._is_connected(device_id) else 0
            line.add_mark(target.last_seq, self._clock.now() + grace_seconds)

    async def _is_connected(self, device_id: str) -> bool:
        return bool(await self._presence.connected([device_id]))

    def _begin(self, line: _Line, target: PushTarget) -> int:
        """Return the number of the last entry that was pushed or is marked to be."""
        line.done_seq = max(line.done_seq, target.since_seq)
        return max(line.done_seq, line.marks[-1].seq if line.marks else 0)

    async def _push(self, device_id: str, line: _Line, mark: _Mark) -> None:
        """Make the next push up to the mark, or be done with it if there is none."""
        now = self._clock.now()
        entries = await self._store.read_queue(device_id, line.done_seq, BURST_ENTRIES + 1, now, to_push=True) or []
        entries = [entry for entry in entries if entry.seq <= mark.seq]
        if mark.after_restart and await self._is_connected(device_id):
            entries = []
        push = next_push(entries, mark.seq, as_one=mark.after_restart, bare_seq=line.bare_seq)
        target = await self._store.find_push_target(device_id)
        if target is None:
            self._forget(device_id, line)
        elif push is None:
            self._finish(device_id, line, mark.seq)
            line.marks.popleft()
        else:
            await self._send(device_id, line, target, push)

    async def _send(self, device_id: str, line: _Line, target: PushTarget, push: Push) -> None:
        async with self._slots.take(target.owner_id, origin_of(target.subscription.endpoint)):
            now = self._clock.now()
            if now >= push.expires_at:  # while it waited for its turn
                self._finish(device_id, line, push.seq)
                return
            reply = await self._sender.send(target.subscription, push.message_at(now))
        self.outcomes.add(reply.outcome.name.lower())
        match reply.outcome:
            case Outcome.GONE:
                await self._store.drop_push_subscription(device_id, target.subscription.endpoint)
            case Outcome.TOO_LARGE if push.blob is not None:
                line.bare_seq = push.seq
            case Outcome.LATER:
                await self._wait_to_retry(device_id, line, push, reply.retry_after_seconds)
            case _:
                self._finish(device_id, line, push.seq)

    async def _wait_to_retry(self, device_id: str, line: _Line, push: Push, retry_after_seconds: float) -> None:
        """Wait and let the same push be made again, or give it up after too many attempts or once it has expired."""
        if line.trying_seq != push.seq:
            line.trying_seq, line.attempts = push.seq, 0
        delay_seconds = min(FIRST_RETRY_SECONDS * 3**line.attempts, RETRY_MAX_SECONDS)
        line.attempts += 1
        again_at = self._clock.now() + max(delay_seconds, retry_after_seconds)
        if line.attempts >= ATTEMPTS_MAX or again_at >= push.expires_at:
            self._finish(device_id, line, push.seq)
        else:
            await self._clock.wait(self._closing, again_at)

    def _finish(self, device_id: str, line: _Line, seq: int) -> None:
        """Note that nothing up to `seq` is to be pushed any more."""
        line.done_seq = seq
        line.attempts = 0
        self._claims.note_done(device_id, seq)

    def _forget(self, device_id: str, line: _Line) -> None:
        """Drop what is kept of a device that has no subscription or is gone."""
        line.grown = line.is_claimed = False
        line.marks.clear()
        self._claims.forget(device_id)
