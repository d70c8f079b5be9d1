"""What waits in a device's queue, decrypted by the device."""

from typing import Any

from reflecto.contract.envelopes import Envelope
from reflecto.core.model import QueueEntry
from tests.actors import DeviceActor
from tests.running import RunningServer


async def entries(server: RunningServer, device: DeviceActor) -> list[QueueEntry]:
    """Return everything that waits for the device."""
    found = await server.services.store.read_queue(device.id, 0, 10_000, server.clock.now())
    assert found is not None
    return found


async def waiting(server: RunningServer, device: DeviceActor, kind: str = "notification") -> list[Envelope]:
    """Return the envelopes of this type that wait for the device, oldest first."""
    opened = [device.open(entry.blob) for entry in await entries(server, device)]
    return [envelope for envelope in opened if envelope.type == kind]


async def latest(server: RunningServer, device: DeviceActor, kind: str = "notification") -> dict[str, Any]:
    """Return the payload of the newest envelope of this type."""
    return (await waiting(server, device, kind))[-1].payload
