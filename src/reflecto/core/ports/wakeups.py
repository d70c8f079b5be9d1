"""Wake-ups: streams and long polls hear that something changed, and read it from the store themselves."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed, by id: what one process tells itself and, where there are several, the others.

    `device_ids`: their queues have grown. `watched_ids`: questions and pairings that have changed. `ended_ids`: devices
    that were removed, whose streams end. `cancelled_calls`: calls that their caller wants no more. `everything`: any
    queue, question or pairing may have changed, for all that is known; it neither ends streams nor cancels calls.
    """

    device_ids: Collection[str] = ()
    watched_ids: Collection[str] = ()
    ended_ids: Collection[str] = ()
    cancelled_calls: Collection[str] = ()
    everything: bool = False


class Stream(Protocol):
    """One open stream of a device. Its buffer is the queue in the store."""

    def wake(self) -> None:
        """Send what the queue has now."""

    def beat(self) -> None:
        """Send a sign of life, or end if the reader has not taken the last thing sent."""

    def end(self) -> None:
        """Close the stream."""


class Wakeups(Protocol):
    """Tells open streams, long polls and held calls what they wait for."""

    @property
    def closing(self) -> bool:
        """True once the server is stopping: nobody should wait any longer."""

    def tell(self, news: News) -> None:
        """Wake, end and cancel whatever `news` is about. Called after the commit that made it."""

    def watch(self, watched_id: str) -> AbstractContextManager[asyncio.Event]:
        """Give an event that is set on every news of the id, and when the server stops."""

    def open_stream(self, device_id: str, stream: Stream) -> AbstractContextManager[None]:
        """Wake, beat and end `stream` while the block runs; the device counts as connected."""

    def open_call(self, call: str, cancel: Callable[[], object]) -> AbstractContextManager[None]:
        """Call `cancel` on news that `call` is cancelled, while the block runs."""
