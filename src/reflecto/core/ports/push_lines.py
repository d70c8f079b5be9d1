"""Push lines: of all processes of a server, one pushes to a device, so that each push goes out once and in order."""

from collections.abc import Callable, Collection
from typing import Protocol


class PushLines(Protocol):
    """Who pushes to which device, and up to which number of its queue that is done."""

    def when_left(self, callback: Callable[[Collection[str]], None], /) -> None:
        """Call `callback` with devices to which another process was pushing that is gone: some may not be done."""

    async def claim(self, device_id: str, upto_seq: int, /) -> int | None:
        """Become the process that pushes to the device, whose queue has come to `upto_seq`; return what is done.

        None: another process is, and hears of `upto_seq`; or the device has no subscription.
        Raises: StoreUnavailableError.
        """

    def holds(self, device_id: str, /) -> bool:
        """Return whether this process, which has claimed the device, still is the one."""

    def note_done(self, device_id: str, seq: int) -> None:
        """Keep in mind that nothing up to `seq` is to be pushed any more."""

    async def release(self, device_id: str, upto_seq: int, /) -> bool:
        """Leave the device to whoever claims it next. False, and nothing happens: its queue has come further.

        Raises: StoreUnavailableError.
        """

    def leave(self, device_ids: Collection[str], /) -> None:
        """Give up pushing to these devices with something left to do: soon another process may go on with it."""

    def forget(self, device_id: str) -> None:
        """Drop what is kept of a device that has no subscription or is gone."""
