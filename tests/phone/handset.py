"""A phone running inside a test: what it tells is collected and can be waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

from reflecto.phone.connection import SILENCE_MAX_SECONDS, Connection
from reflecto.phone.device import Ending, Phone
from reflecto.phone.effects import Effect
from reflecto.phone.identity import Invitation, enroll, first_state
from reflecto.phone.state import HeldToken
from reflecto.phone.state_file import StateFile

WAIT_SECONDS = 20  # a bound for a busy machine

E = TypeVar("E", bound=Effect)


class Handset:
    """What a running phone told so far."""

    phone: Phone
    running: "asyncio.Task[Ending]"

    def __init__(self) -> None:
        self.told: list[Effect] = []
        self._news = asyncio.Event()

    def show(self, effect: Effect) -> None:
        self.told.append(effect)
        self._news.set()

    def all(self, kind: type[E]) -> list[E]:
        return [effect for effect in self.told if isinstance(effect, kind)]

    async def wait_for(self, kind: type[E], count: int = 1, **fields: object) -> E:
        """Return the `count`-th effect of this kind with these fields, waiting until there is one."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                self._news.clear()
                found = [
                    effect
                    for effect in self.all(kind)
                    if all(getattr(effect, name) == value for name, value in fields.items())
                ]
                if len(found) >= count:
                    return found[count - 1]
                await self._news.wait()

    async def ending(self) -> Ending:
        async with asyncio.timeout(WAIT_SECONDS):
            return await asyncio.shield(self.running)


async def enrol(path: Path, url: str, code: str, label: str = "Terminal") -> HeldToken | None:
    """Enrol a phone that keeps its state at `path`."""
    with StateFile(path) as store:
        async with httpx.AsyncClient(trust_env=False) as http:
            identity, token = await enroll(http, Invitation(code, None), url, label)
        store.save(first_state(identity, token))
    return token


@asynccontextmanager
async def running(
    path: Path, *, silence_max_seconds: float = SILENCE_MAX_SECONDS, **options: Any
) -> AsyncIterator[Handset]:
    """Run the phone whose state is at `path`; it is stopped at the end, as by `q`."""
    handset = Handset()
    with StateFile(path) as store:
        state = store.load()
        assert state.identity is not None
        async with httpx.AsyncClient(trust_env=False) as http:
            connection = Connection(http, state.identity, silence_max_seconds=silence_max_seconds)
            handset.phone = Phone(store, state, connection, handset.show, **options)
            handset.running = asyncio.create_task(handset.phone.run())
            try:
                yield handset
            finally:
                handset.phone.stop()
                await asyncio.wait([handset.running], timeout=WAIT_SECONDS)
                handset.running.result()


class Clock:
    """Unix seconds that pass only when the test says so."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def recorded(delays: list[float], *, at_most: int = 2**30) -> Callable[[float], Any]:
    """Return a pause that passes at once and notes how long it should have been; after `at_most` it never ends."""

    async def pause(seconds: float) -> None:
        delays.append(seconds)
        if len(delays) > at_most:
            await asyncio.Event().wait()

    return pause
