"""Presence: which devices have a stream open, in whichever process. `ttl: 0`, `reachable` and pushes ask."""

from collections.abc import Collection
from typing import Protocol


class Presence(Protocol):
    """Who is connected. What a process opened ends with it, also where it was killed."""

    def open(self, device_id: str) -> None:
        """This process holds a stream of the device from now on."""

    def close(self, device_id: str) -> None:
        """This process holds no stream of the device any more."""

    async def connected(self, device_ids: Collection[str]) -> frozenset[str]:
        """Return those of the devices that have a stream open."""
