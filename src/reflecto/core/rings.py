"""Rings: the phone sounds until it is found. Source: api.md "POST /v1/ring"."""

from reflecto.contract.envelopes import RingPayload
from reflecto.contract.errors import INVALID_MESSAGE, MESSAGE_TOO_LONG, NO_PHONE_DEVICE, ApiError
from reflecto.contract.ids import new_id
from reflecto.contract.limits import MESSAGE_MAX_BYTES, RING_DELIVERY_SECONDS
from reflecto.contract.messages import RingRequest, SendResponse
from reflecto.core.checks import check_bytes
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.quotas import Quotas
from reflecto.core.sealing import make_envelope
from reflecto.core.sender import Sender


class Rings:
    """Rings phones."""

    def __init__(self, dispatcher: Dispatcher, quotas: Quotas, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._quotas = quotas
        self._clock = clock

    async def ring(self, sender: Sender, request: RingRequest) -> SendResponse:
        """Queue the ring for every phone; one that does not take it within 60 s never sounds.

        Raises: ApiError `message_too_long`, `scope_denied`, `priority_capped` below high, `rate_limit_exceeded`,
        `no_phone_device` (not for a test token), `queue_full`.
        """
        if request.message is not None:
            check_bytes(request.message, MESSAGE_MAX_BYTES, MESSAGE_TOO_LONG, empty=INVALID_MESSAGE)
        sender.require("ring", "high")
        now = self._clock.now()
        expires_at = int(now) + RING_DELIVERY_SECONDS
        payload = RingPayload(request.duration, expires_at, request.message)
        envelope = make_envelope("ring", new_id("msg"), now, payload, token=sender.token.label)
        with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            phones, caveats = await self._dispatcher.devices_meant(sender, "phone")
            phones = [device for device in phones if device.device_class == "phone"]
            if not phones and not sender.token.test:
                raise ApiError(NO_PHONE_DEVICE)
            delivered_to, full = await self._dispatcher.dispatch(phones, envelope, expires_at)
        return SendResponse(envelope.id, delivered_to, tuple(caveats + full))
