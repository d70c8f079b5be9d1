"""Wake-ups: streams and long polls hear that something changed, and read it from the store themselves."""

import asyncio
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol


class Stream(Protocol):
    """One open stream of a device. Its buffer is the queue in the store."""

    def wake(self) -> None:
        """Send what the queue has now."""

    def beat(self) -> None:
        """Send a sign of life, or end if the reader has not taken the last thing sent."""

    def end(self) -> None:
        """Close the stream."""


class Wakeups(Protocol):
    """Tells open streams and long polls that something changed; they read it from the store themselves."""

    @property
    def closing(self) -> bool:
        """True once the server is stopping: nobody should wait any longer."""

    def wake_devices(self, device_ids: Iterable[str]) -> None:
        """Their queues have grown."""

    def wake_all(self) -> None:
        """Anything may have changed."""

    def end_devices(self, device_ids: Iterable[str]) -> None:
        """End their streams: they were revoked."""

    def is_connected(self, device_id: str) -> bool:
        """Tell whether a stream of the device is open."""

    def wake_watchers(self, watched_id: str) -> None:
        """The question or pairing with this id has changed."""

    def watch(self, watched_id: str) -> AbstractContextManager[asyncio.Event]:
        """Give an event that is set whenever `wake_watchers` is called for the id, and when the server stops."""

    def open_stream(self, device_id: str, stream: Stream) -> AbstractContextManager[None]:
        """Wake, beat and end `stream` while the block runs."""
