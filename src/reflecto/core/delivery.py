"""Putting envelopes into the queues of the devices a sender means. Source: api.md "POST /v1/send"."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.envelopes import Envelope
from reflecto.contract.errors import INVALID_TOKEN, QUEUE_FULL
from reflecto.contract.limits import QUEUE_FULL_RETRY_AFTER_SECONDS
from reflecto.contract.messages import DeliveredTo
from reflecto.core.events import MESSAGE_SENT
from reflecto.core.model import Device
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Sending
from reflecto.core.sealing import Sealer
from reflecto.core.sender import Sender
from reflecto.core.targets import select_devices

R = TypeVar("R")
Delivered = tuple[DeliveredTo, ...]  # the devices whose queues hold it

TEST_TOKEN: Final = Caveat("test_token", "This is a test token: nothing reaches a device")


class Dispatcher:
    """Finds the devices a sender means and puts envelopes into their queues."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer

    async def devices_meant(
        self, sender: Sender, selector: str, *, or_all: bool = False
    ) -> tuple[list[Device], list[Caveat]]:
        """Return the owner's devices behind `selector`, and caveats; for a test token none, after the same checks.

        `or_all`: where nobody has any of the names, all devices are meant.

        Raises: ApiError `invalid_token` if it was revoked meanwhile: a body may take half a minute to come.
        """
        if await self._store.find_token(sender.token.hash) is None:
            raise ApiError(INVALID_TOKEN)
        devices = await self._store.list_devices(sender.token.owner_id)
        meant, caveats = select_devices(devices, selector)
        if or_all and not meant:
            meant = devices
        return ([], [TEST_TOKEN]) if sender.token.test else (meant, caveats)

    async def dispatch(
        self,
        sender: Sender,
        devices: Sequence[Device],
        envelope: Envelope,
        expires_at: int,
        result_of: Callable[[Delivered, list[Caveat]], R],
        keeping: Keeping[R] | None,
    ) -> R:
        """Queue durably for each device and wake it; return `result_of` those reached and a caveat for each full queue.

        Raises: ApiError `queue_full` if all are.
        """

        def sent(sending: Sending) -> R:
            full = [device for device in devices if device.id in sending.full]
            if full and not sending.reached:
                raise queue_full(full)
            delivered = tuple(DeliveredTo(device.id, device.type) for device in devices if device.id in sending.reached)
            return result_of(delivered, [full_caveat(device) for device in full])

        keep = keep_of(keeping, sender.token.owner_id, sent)
        if not devices and keep is None:
            return sent(Sending())
        if envelope.type == "document":  # in a thread: the largest, for 32 devices, takes a tenth of a second to seal
            deliveries = await asyncio.to_thread(self._sealer.seal_for, devices, envelope, expires_at)
        else:
            deliveries = self._sealer.seal_for(devices, envelope, expires_at)
        sending = await self._store.send_to_queues(deliveries, keep)
        result = sent(sending)
        if devices:
            self._wakeups.tell(News(device_ids=sending.reached))
            MESSAGE_SENT.log(message=envelope.id, type=envelope.type, devices=len(sending.reached))
        return result


def queue_full(devices: Sequence[Device]) -> ApiError:
    """Return the refusal where none of these devices takes anything."""
    details = {"devices": [{"device_id": device.id, "label": device.label} for device in devices]}
    return ApiError(QUEUE_FULL, details=details, retry_after_seconds=QUEUE_FULL_RETRY_AFTER_SECONDS)


def full_caveat(device: Device) -> Caveat:
    """Return what a sender is told of a device whose queue is full."""
    text = f"The queue of '{device.label}' ({device.id}) is full; it did not get this"
    return Caveat(QUEUE_FULL.code, text)
