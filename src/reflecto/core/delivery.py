"""Putting envelopes into the queues of the devices a sender means. Source: api.md "POST /v1/send"."""

from collections.abc import Sequence
from typing import Final

from reflecto.contract.envelopes import Envelope
from reflecto.contract.errors import INVALID_TOKEN, ApiError
from reflecto.contract.messages import Caveat, DeliveredTo
from reflecto.core.model import Device
from reflecto.core.ports import Store, Wakeups
from reflecto.core.sealing import Sealer
from reflecto.core.sender import Sender
from reflecto.core.targets import select_devices

TEST_TOKEN: Final = Caveat("test_token", "This is a test token: nothing reaches a device")


class Dispatcher:
    """Finds the devices a sender means and puts envelopes into their queues."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer

    async def devices_meant(self, sender: Sender, selector: str) -> tuple[list[Device], list[Caveat]]:
        """Return the owner's devices behind `selector`, and caveats; for a test token none, after the same checks.

        Raises: ApiError `invalid_token` if it was revoked meanwhile: a body may take half a minute to come.
        """
        if await self._store.find_token(sender.token.hash) is None:
            raise ApiError(INVALID_TOKEN)
        meant, caveats = select_devices(await self._store.list_devices(sender.token.owner_id), selector)
        return ([], [TEST_TOKEN]) if sender.token.test else (meant, caveats)

    async def dispatch(self, devices: Sequence[Device], envelope: Envelope, expires_at: int) -> tuple[DeliveredTo, ...]:
        """Queue durably for each device and wake it; return those that still exist."""
        if not devices:
            return ()
        reached = set(await self._store.append_to_queues(self._sealer.seal_for(devices, envelope, expires_at)))
        self._wakeups.wake_devices(reached)
        return tuple(DeliveredTo(device.id, device.type) for device in devices if device.id in reached)
