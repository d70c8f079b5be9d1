"""`core.ports.presence.Presence` where one process holds every stream."""

from collections.abc import Collection


class MemoryPresence:
    """The devices that have a stream open here."""

    def __init__(self) -> None:
        self._connected: set[str] = set()

    def open(self, device_id: str) -> None:
        """Count the device as connected."""
        self._connected.add(device_id)

    def close(self, device_id: str) -> None:
        """Count it so no more."""
        self._connected.discard(device_id)

    async def connected(self, device_ids: Collection[str]) -> frozenset[str]:
        """Return those of the devices that have a stream open."""
        return frozenset(self._connected.intersection(device_ids))
