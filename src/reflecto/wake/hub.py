"""`core.ports.wakeups.Wakeups` for one process: which streams and long polls are open in it, and waking them."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from reflecto.contract.limits import HEARTBEAT_SECONDS, STREAMS_MAX_PER_DEVICE
from reflecto.core.clock import Clock, Timer
from reflecto.core.ports.presence import Presence
from reflecto.core.ports.wakeups import News, Stream


class Hub:
    """All open streams and waits. Every method is called on the event loop."""

    def __init__(self, clock: Clock, presence: Presence) -> None:
        self._clock = clock
        self._presence = presence
        self._streams: dict[str, list[Stream]] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._calls: dict[str, Callable[[], object]] = {}
        self._heartbeat: Timer | None = None
        self._on_growth: Callable[[Collection[str]], None] = lambda _: None
        self._on_stranger: Callable[[Collection[str]], None] = lambda _: None
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

    def when_grown(self, callback: Callable[[Collection[str]], None]) -> None:
        """Call `callback` with the devices whose queues this process has added to, whether they have streams or not."""
        self._on_growth = callback

    def when_cancelled_elsewhere(self, callback: Callable[[Collection[str]], None]) -> None:
        """Call `callback` with calls that were cancelled here and are not held here: another process may hold them."""
        self._on_stranger = callback

    def start(self) -> None:
        """Begin to beat every stream each HEARTBEAT_SECONDS."""
        self._heartbeat = self._clock.call_later(HEARTBEAT_SECONDS, self._beat)

    def close(self) -> None:
        """End every stream and long poll; one that is opened later ends at once."""
        self.closed.set()
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self.end_streams()
        self._set_watchers(self._watchers)

    def end_streams(self) -> None:
        """End every stream; devices open new ones, here or at another process."""
        self._end_streams(list(self._streams))

    @contextmanager
    def open_stream(self, device_id: str, stream: Stream) -> Iterator[None]:
        """Keep `stream` woken while the block runs. One too many of a device ends its oldest."""
        streams = self._streams.setdefault(device_id, [])
        streams.append(stream)
        self._presence.open(device_id)
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
                self._presence.close(device_id)

    def tell(self, news: News) -> None:
        """Wake, end and cancel whatever `news` of this process is about."""
        strangers = [call for call in news.cancelled_calls if call not in self._calls]
        self.hear(news)
        if strangers:
            self._on_stranger(strangers)
        if news.device_ids:
            self._on_growth(news.device_ids)

    def hear(self, news: News) -> None:
        """Wake, end and cancel whatever `news` of another process is about; that one pushes what it has queued."""
        self._set_watchers(news.watched_ids)
        self._wake_streams(news.device_ids)
        self._end_streams(news.ended_ids)
        for call in news.cancelled_calls:
            if call in self._calls:
                self._calls[call]()
        if news.everything:
            self._wake_streams(list(self._streams))
            self._set_watchers(self._watchers)

    @contextmanager
    def watch(self, watched_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set on every news of the id, and when the hub closes."""
        event = asyncio.Event()
        watchers = self._watchers.setdefault(watched_id, set())
        watchers.add(event)
        try:
            yield event
        finally:
            watchers.discard(event)
            if not watchers and self._watchers.get(watched_id) is watchers:
                del self._watchers[watched_id]

    @contextmanager
    def open_call(self, call: str, cancel: Callable[[], object]) -> Iterator[None]:
        """Call `cancel` on news that `call` is cancelled, while the block runs. The latest of a name counts."""
        self._calls[call] = cancel
        try:
            yield
        finally:
            if self._calls.get(call) is cancel:
                del self._calls[call]

    def _set_watchers(self, watched_ids: Iterable[str]) -> None:
        for watched_id in watched_ids:
            for event in self._watchers.get(watched_id, ()):
                event.set()

    def _end_streams(self, device_ids: Iterable[str]) -> None:
        for device_id in device_ids:
            for stream in list(self._streams.get(device_id, ())):
                stream.end()

    def _wake_streams(self, device_ids: Iterable[str]) -> None:
        for device_id in device_ids:
            for stream in self._streams.get(device_id, ()):
                stream.wake()

    def _beat(self) -> None:
        self._heartbeat = self._clock.call_later(HEARTBEAT_SECONDS, self._beat)
        for streams in list(self._streams.values()):
            for stream in list(streams):
                stream.beat()
