"""`core.ports.push_lines.PushLines` where one process pushes to every device."""

from collections.abc import Callable, Collection


class MemoryPushLines:
    """Up to which number each device's pushes are done, since the process started."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}

    def when_left(self, _callback: Callable[[Collection[str]], None]) -> None:
        """There is no other process."""

    async def claim(self, device_id: str, _upto_seq: int) -> int | None:
        """Return what is done."""
        return self._done.get(device_id, 0)

    def holds(self, _device_id: str) -> bool:
        """Nobody else does."""
        return True

    def note_done(self, device_id: str, seq: int) -> None:
        """Note that nothing up to `seq` is to be pushed any more."""
        self._done[device_id] = seq

    async def release(self, _device_id: str, _upto_seq: int) -> bool:
        """Nobody else waits for it."""
        return True

    def leave(self, _device_ids: Collection[str]) -> None:
        """The next thing queued starts it again, behind what was pushed."""

    def forget(self, device_id: str) -> None:
        """Drop what is kept of the device."""
        self._done.pop(device_id, None)
