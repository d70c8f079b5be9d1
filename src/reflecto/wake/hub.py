"""`core.ports.wakeups.Wakeups` for one process: which streams and long polls are open in it, and waking them."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from reflecto.contract.limits import HEARTBEAT_SECONDS, STREAMS_MAX_PER_DEVICE
from reflecto.core.clock import Clock, Timer
from reflecto.core.ports.wakeups import Stream


class Hub:
    """All open streams and waits. Every method is called on the event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._streams: dict[str, list[Stream]] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._heartbeat: Timer | None = None
        self._on_growth: Callable[[list[str]], None] = lambda _: None
        self.closed = asyncio.Event()

    @property
    def closing(self) -> bool:
        """Whether `close` has been called."""
        return self.closed.is_set()

    def count_streams(self) -> int:
        """Return how many streams are open."""
        return sum(map(len, self._streams.values()))

    def count_waits(self) -> int:
        """Return how many long polls wait."""
        return sum(map(len, self._watchers.values()))

    def when_grown(self, callback: Callable[[list[str]], None]) -> None:
        """Call `callback` with the devices whose queues this process has added to, whether they have streams or not."""
        self._on_growth = callback

    def start(self) -> None:
        """Begin the heartbeat."""
        self._heartbeat = self._clock.call_later(HEARTBEAT_SECONDS, self._beat)

    def close(self) -> None:
        """End every stream and wait; whoever comes later is turned away at once."""
        self.closed.set()
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self.end_devices(list(self._streams))
        for events in self._watchers.values():
            for event in events:
                event.set()

    @contextmanager
    def open_stream(self, device_id: str, stream: Stream) -> Iterator[None]:
        """Keep `stream` woken while the block runs. One too many of a device ends its oldest."""
        streams = self._streams.setdefault(device_id, [])
        streams.append(stream)
        if len(streams) > STREAMS_MAX_PER_DEVICE:
            streams.pop(0).end()
        if self.closing:
            stream.end()
        try:
            yield
        finally:
            if stream in streams:
                streams.remove(stream)
            if not streams and self._streams.get(device_id) is streams:
                del self._streams[device_id]

    def wake_devices(self, device_ids: Iterable[str]) -> None:
        """Their queues have grown."""
        grown = list(device_ids)
        self._wake_streams(grown)
        self._on_growth(grown)

    def wake_all(self) -> None:
        """Another process has changed the store: anything may have grown or ended. What it queued it also pushes."""
        self._wake_streams(list(self._streams))
        for watched_id in list(self._watchers):
            self.wake_watchers(watched_id)

    def end_devices(self, device_ids: Iterable[str]) -> None:
        """End their streams."""
        for device_id in device_ids:
            for stream in list(self._streams.get(device_id, ())):
                stream.end()

    def is_connected(self, device_id: str) -> bool:
        """Tell whether a stream of the device is open."""
        return device_id in self._streams

    def wake_watchers(self, watched_id: str) -> None:
        """The question or pairing with this id has changed."""
        for event in self._watchers.get(watched_id, ()):
            event.set()

    @contextmanager
    def watch(self, watched_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set on `wake_watchers`, and when the hub closes."""
        event = asyncio.Event()
        watchers = self._watchers.setdefault(watched_id, set())
        watchers.add(event)
        try:
            yield event
        finally:
            watchers.discard(event)
            if not watchers and self._watchers.get(watched_id) is watchers:
                del self._watchers[watched_id]

    def _wake_streams(self, device_ids: Iterable[str]) -> None:
        for device_id in device_ids:
            for stream in self._streams.get(device_id, ()):
                stream.wake()

    def _beat(self) -> None:
        self._heartbeat = self._clock.call_later(HEARTBEAT_SECONDS, self._beat)
        for streams in list(self._streams.values()):
            for stream in list(streams):
                stream.beat()
