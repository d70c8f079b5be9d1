"""What devices of one owner send each other, sealed by the sender. Source: devices.md "Sync"."""

import binascii
from base64 import b64decode
from typing import Final

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_RELAY, NOT_FOUND, QUEUE_FULL, RATE_LIMIT_EXCEEDED
from reflecto.contract.ids import is_id
from reflecto.contract.limits import BLOB_MIN_BYTES, RELAY_BLOB_MAX_BYTES, RELAYS_PER_MINUTE
from reflecto.contract.pairing import RelayRequest
from reflecto.core.clock import Clock
from reflecto.core.delivery import queue_full
from reflecto.core.model import Delivery, Device
from reflecto.core.ports.counting import Counters, Window
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Relaying
from reflecto.core.sealing import queue_expiry
from reflecto.crypto.envelopes import VERSION

RELAYS: Final = Window("relays", RELAYS_PER_MINUTE, seconds=60)  # of one device


class Relay:
    """Passes blobs on; the server sees who sends, to whom, how much and when."""

    def __init__(self, store: Store, wakeups: Wakeups, counters: Counters, clock: Clock) -> None:
        self._store = store
        self._wakeups = wakeups
        self._clock = clock
        self._counters = counters

    async def relay(self, device: Device, request: RelayRequest, keeping: Keeping[None] | None = None) -> None:
        """Queue the blobs durably; the oldest relayed ones go where too many wait already.

        Raises: ApiError `invalid_relay`, `rate_limit_exceeded`, `not_found` for a device that is not the owner's,
        or if `device` is no more, `queue_full` if other things fill every queue.
        """
        if len(request.to) != len(request.blobs):
            raise ApiError(INVALID_RELAY)
        blobs = [_blob(text) for text in request.blobs]
        now = self._clock.now()
        await self._count(device, now)
        if not all(is_id(device_id, "dev") for device_id in request.to):
            raise ApiError(NOT_FOUND)
        deliveries = [
            Delivery(device_id, blob, queue_expiry(now), sender=device.id)
            for device_id, blob in zip(request.to, blobs, strict=True)
        ]
        keep = keep_of(keeping, device.owner_id, _check)
        relaying = await self._store.relay_to_queues(device.owner_id, deliveries, keep)
        if relaying is Relaying.QUEUES_FULL:
            devices = await self._store.list_devices(device.owner_id)
            raise queue_full([each for each in devices if each.id in request.to])
        _check(relaying)
        self._wakeups.tell(News(device_ids=set(request.to)))

    async def _count(self, device: Device, now: float) -> None:
        full = await self._counters.hit([(RELAYS, device.id)], now)
        if full is not None:
            raise ApiError(RATE_LIMIT_EXCEEDED, retry_after_seconds=max(1, int(full.reset_at) - int(now)))


def _check(relaying: Relaying) -> None:
    if relaying is not Relaying.QUEUED:
        raise ApiError(NOT_FOUND if relaying is Relaying.DEVICE_GONE else QUEUE_FULL)


def _blob(text: str) -> bytes:
    try:
        blob = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(INVALID_RELAY) from None
    if not BLOB_MIN_BYTES <= len(blob) <= RELAY_BLOB_MAX_BYTES or blob[0] != VERSION:
        raise ApiError(INVALID_RELAY)
    return blob
