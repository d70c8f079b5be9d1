"""Rings: the phone sounds until it is found. Source: api.md "POST /v1/ring", devices.md "Keys and envelopes"."""

from typing import Final

from reflecto.contract.api_error import ApiError
from reflecto.contract.envelopes import RingPayload, RingStoppedPayload
from reflecto.contract.errors import INVALID_MESSAGE, MESSAGE_TOO_LONG, NO_PHONE_DEVICE, NOT_FOUND, RATE_LIMIT_EXCEEDED
from reflecto.contract.ids import is_id, new_id
from reflecto.contract.limits import MESSAGE_MAX_BYTES, RING_DELIVERY_SECONDS, RING_MAX_SECONDS
from reflecto.contract.messages import RingRequest, SendResponse
from reflecto.core.checks import check_bytes
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.model import Device
from reflecto.core.muting import refuse_if_muted
from reflecto.core.ports.counting import Counters, Window
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.quotas import Quotas
from reflecto.core.repeats import Keeping
from reflecto.core.sealing import Sealer, make_envelope, source_of
from reflecto.core.sender import Sender

STOP_SECONDS: Final = RING_DELIVERY_SECONDS + RING_MAX_SECONDS  # by then no ring sounds any more
STOPS: Final = Window("ring_stops", 60, seconds=60)  # of one device
STOPPED_REMEMBERED: Final = 1_000  # of all owners


class Rings:
    """Rings: every phone of an owner sounds, until one of them stops it or the time is over."""

    def __init__(
        self,
        store: Store,
        dispatcher: Dispatcher,
        wakeups: Wakeups,
        sealer: Sealer,
        quotas: Quotas,
        counters: Counters,
        clock: Clock,
    ) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._wakeups = wakeups
        self._sealer = sealer
        self._quotas = quotas
        self._clock = clock
        self._counters = counters
        self._stopped: dict[tuple[str, str], None] = {}  # owner and ring; in memory, for phones show a stop once anyway

    async def ring(
        self, sender: Sender, request: RingRequest, keeping: Keeping[SendResponse] | None = None
    ) -> SendResponse:
        """Queue the ring for every phone; one that does not take it within 60 s never sounds.

        Raises: ApiError `message_too_long`, `scope_denied`, `priority_capped` below high, `sender_muted`,
        `rate_limit_exceeded`, `no_phone_device` (not for a test token), `queue_full`.
        """
        if request.message is not None:
            check_bytes(request.message, MESSAGE_MAX_BYTES, MESSAGE_TOO_LONG, empty=INVALID_MESSAGE)
        sender.require("ring", "high")
        now = self._clock.now()
        refuse_if_muted(sender.token, now)
        expires_at = int(now) + RING_DELIVERY_SECONDS
        payload = RingPayload(request.duration, expires_at, request.message)
        envelope = make_envelope("ring", new_id("msg"), now, payload, **source_of(sender.token))
        async with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            phones, caveats = await self._dispatcher.devices_meant(sender, "phone")
            phones = [device for device in phones if device.device_class == "phone"]
            if not phones and not sender.token.test:
                raise ApiError(NO_PHONE_DEVICE)
            return await self._dispatcher.dispatch(
                sender,
                phones,
                envelope,
                expires_at,
                lambda delivered_to, full: SendResponse(envelope.id, delivered_to, (*caveats, *full)),
                keeping,
            )

    async def stop(self, device: Device, ring_id: str) -> None:
        """Silence a ring on all other devices of the owner; of a repeat nobody hears.

        The server keeps no rings, and of one that a device relayed it never knew: any id of the right form may ring.

        Raises: ApiError `not_found` for what is no id, `rate_limit_exceeded`.
        """
        if not is_id(ring_id, "msg"):
            raise ApiError(NOT_FOUND)
        if (device.owner_id, ring_id) in self._stopped:
            return
        now = self._clock.now()
        full = await self._counters.hit([(STOPS, device.id)], now)
        if full is not None:
            raise ApiError(RATE_LIMIT_EXCEEDED, retry_after_seconds=max(1, int(full.reset_at) - int(now)))
        devices = await self._store.list_devices(device.owner_id)
        others = [each for each in devices if each.id != device.id]
        envelope = make_envelope("ring.stopped", ring_id, now, RingStoppedPayload(device.label), device=device.label)
        # A device whose queue is full goes on until the ring's own end.
        stops = self._sealer.seal_for(others, envelope, int(now) + STOP_SECONDS)
        self._wakeups.tell(News(device_ids=await self._store.append_to_queues(stops)))
        self._stopped[device.owner_id, ring_id] = None
        if len(self._stopped) > STOPPED_REMEMBERED:
            del self._stopped[next(iter(self._stopped))]
