"""Small real implementations of what the core needs from outside, for tests to steer."""

import asyncio
import heapq
import inspect
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Final

from reflecto.core.clock import Timer
from reflecto.core.ports.store import Store, StoreUnavailableError

START: Final = 1_754_800_000.0  # Unix seconds
BOUND_SECONDS: Final = 20  # of real time: what has not happened by then never will


class FakeTimer:
    """A call scheduled on the fake clock."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Forget the call."""
        self.callback = None


class FakeClock:
    """`core.clock.Clock` that stands still until a test moves it."""

    def __init__(self, now: float = START) -> None:
        self._now = now
        self._order = itertools.count()
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._waits: list[float] = []
        self._watchers: list[tuple[float, int, asyncio.Event]] = []

    def now(self) -> float:
        """Return Unix seconds."""
        return self._now

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` once a test has moved the time that far."""
        return self._call_at(self._now + seconds, callback)

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Return when `event` is set, or when a test has moved the time to `until`."""
        if event.is_set() or self._now >= until:
            return
        due = asyncio.Event()
        timer = self._call_at(until, due.set)
        happenings = [asyncio.ensure_future(each.wait()) for each in (event, due)]
        self._waits.append(until)
        self._tell_watchers()
        try:
            await asyncio.wait(happenings, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waits.remove(until)
            timer.cancel()
            for happening in happenings:
                happening.cancel()

    def advance(self, seconds: float) -> None:
        """Move the time, calling what is due on the way, each at its own instant. Tasks run at the next await."""
        self.advance_to(self._now + seconds)

    def advance_to(self, instant: float) -> None:
        """Move the time to `instant`, in Unix seconds."""
        while self._timers and self._timers[0][0] <= instant:
            due, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, due)
            callback, timer.callback = timer.callback, None
            if callback is not None:
                callback()
        self._now = max(self._now, instant)

    async def until_waited_for(self, instant: float, count: int = 1) -> None:
        """Return once `count` tasks wait for exactly this instant. Raises: TimeoutError."""
        reached = asyncio.Event()
        self._watchers.append((instant, count, reached))
        self._tell_watchers()
        async with asyncio.timeout(BOUND_SECONDS):
            await reached.wait()

    def _call_at(self, instant: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(callback)
        heapq.heappush(self._timers, (instant, next(self._order), timer))
        return timer

    def _tell_watchers(self) -> None:
        for instant, count, reached in self._watchers:
            if self._waits.count(instant) >= count:
                reached.set()


class Gate:
    """Holds calls back until it is opened, so that all of them are under way at once."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._held = asyncio.Semaphore(0)

    async def __call__(self) -> None:
        """Wait at the gate."""
        self._held.release()
        await self._opened.wait()

    async def until_held(self, count: int = 1) -> None:
        """Return once `count` calls wait. Raises: TimeoutError."""
        async with asyncio.timeout(BOUND_SECONDS):
            for _ in range(count):
                await self._held.acquire()

    def open(self) -> None:
        """Let everyone pass, also those who come later."""
        self._opened.set()


class FaultyStore:
    """A store in front of a real one that a test can let fail, or do something else first.

    Nothing of a failing verb reaches the real store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.faults: dict[str, Exception] = {}
        self.before: dict[str, Callable[[], Awaitable[object]]] = {}
        self.after: dict[str, Callable[[], Awaitable[object]]] = {}  # between a verb's commit and whoever called it
        self.calls: list[str] = []

    def hold(self, verb: str) -> Gate:
        """Hold calls of this verb back until the gate is opened."""
        gate = self.before[verb] = Gate()
        return gate

    def fail(self, *verbs: str, error: Exception | None = None) -> None:
        """Let these verbs fail from now on, as if the disk were full where no `error` is given."""
        for verb in verbs:
            assert callable(getattr(self._store, verb))
            self.faults[verb] = error or StoreUnavailableError("database or disk is full")

    def recover(self) -> None:
        """Let every verb work again."""
        self.faults.clear()

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._store, verb)
        if not inspect.iscoroutinefunction(method):
            return method

        async def run(*arguments: Any, **named: Any) -> Any:
            self.calls.append(verb)
            if verb in self.before:
                await self.before[verb]()
            if verb in self.faults:
                raise self.faults[verb]
            outcome = await method(*arguments, **named)
            if verb in self.after:
                await self.after[verb]()
            return outcome

        return run
