"""Emergencies: messages that ring until somebody acknowledges them. Source: api.md, devices.md.

As with reminders no token is at hand when one rings again, so what its devices get is sealed when it is sent: without
its picture, which came with the first round. A device that does not know emergencies gets the message once, and rings.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.envelopes import (
    EmergencyClosedPayload,
    EmergencyPayload,
    Envelope,
    NotificationPayload,
    RingPayload,
)
from reflecto.contract.errors import EMERGENCY_CLOSED, INVALID_TOKEN, NOT_FOUND, TOO_MANY_EMERGENCIES
from reflecto.contract.ids import RECEIPT_PATTERN, new_id, new_receipt
from reflecto.contract.limits import RING_DEFAULT_SECONDS, RING_DELIVERY_SECONDS
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher, full_caveat
from reflecto.core.devices import require_phone
from reflecto.core.events import EMERGENCY_ENDED, EMERGENCY_RAISED
from reflecto.core.model import Delivery, Device, Emergency, EmergencyEnd
from reflecto.core.muting import refuse_if_muted
from reflecto.core.ports.callbacks import Callbacks
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.pushover import EmergencyTerms, PushoverMessage
from reflecto.core.quotas import Quotas
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.emergencies import next_round, status_of
from reflecto.core.rules.outcomes import Addition, Sending, Verdict
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry
from reflecto.core.sender import Sender

FEATURE: Final = "emergency"
DUE_PAGE: Final = 50  # of rounds, or of callbacks, at a time
FULL_RETRY_AFTER_SECONDS: Final = 60
UPDATE_HINT: Final = "An emergency. It can be acknowledged once this app is updated"


class Alarm(msgspec.Struct, frozen=True):
    """What a sender gets: the id of the message and its receipt."""

    id: str
    receipt: str
    caveats: tuple[Caveat, ...]


class Emergencies:
    """Sounds emergencies, ends them and calls their senders back."""

    def __init__(
        self,
        store: Store,
        dispatcher: Dispatcher,
        wakeups: Wakeups,
        sealer: Sealer,
        quotas: Quotas,
        callbacks: Callbacks,
        clock: Clock,
    ) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._wakeups = wakeups
        self._sealer = sealer
        self._quotas = quotas
        self._callbacks = callbacks
        self._clock = clock

    async def send(
        self, sender: Sender, message: PushoverMessage, terms: EmergencyTerms, keeping: Keeping[Alarm] | None = None
    ) -> Alarm:
        """Keep the emergency durably and sound its first round.

        Raises: ApiError `scope_denied`, `priority_capped` for a cap below high, `sender_muted`, `rate_limit_exceeded`,
        `too_many_emergencies`, `invalid_token` if it was revoked meanwhile.
        """
        sender.require("send", "high")
        now = self._clock.now()
        refuse_if_muted(sender.token, now)
        emergency = Emergency(
            receipt=new_receipt(),
            message_id=new_id("msg"),
            owner_id=sender.token.owner_id,
            token_id=sender.token.id,
            token_label=sender.token.label,
            retry_seconds=terms.retry,
            created_at=int(now),
            expires_at=int(now) + terms.expire,
            callback=terms.callback,
            last_delivered_at=int(now),
            next_round_at=min(int(now) + terms.retry, int(now) + terms.expire),
        )
        tag_hashes = [_tag_hash(sender.token.id, tag) for tag in terms.tags]
        async with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            devices, unknown = await self._dispatcher.devices_meant(sender, message.device, or_all=True)
            light = {name: value for name, value in message.body.items() if name != "image"}

            def response_to(outcome: tuple[Addition, Sending]) -> Alarm:
                addition, sending = outcome
                match addition:
                    case Addition.TOO_MANY:
                        raise ApiError(TOO_MANY_EMERGENCIES, retry_after_seconds=FULL_RETRY_AFTER_SECONDS)
                    case Addition.REVOKED:
                        raise ApiError(INVALID_TOKEN)
                full = [
                    full_caveat(each) for each in devices if each.id in sending.full
                ]  # the next round may find room
                return Alarm(emergency.message_id, emergency.receipt, (*message.caveats, *unknown, *full))

            blobs = self._sealer.seal_for(devices, _text_of(emergency, light), emergency.expires_at)
            outcome = await self._store.add_emergency(
                emergency,
                tag_hashes,
                [(each.device_id, each.blob) for each in blobs],
                self._first_round(devices, emergency, message, now),
                keep_of(keeping, emergency.owner_id, response_to),
            )
            alarm = response_to(outcome)
        reached = set(outcome[1].reached)
        self._wakeups.tell(News(device_ids=reached))
        EMERGENCY_RAISED.log(message=emergency.message_id, token=sender.token.id, devices=len(reached))
        return alarm

    async def read(self, sender: Sender, receipt: str) -> Emergency:
        """Return an emergency of this token as it stands now.

        Raises: ApiError `not_found`, also for one of another token or older than a week.
        """
        emergency = await self._find(receipt)
        if emergency.token_id != sender.token.id:
            raise ApiError(NOT_FOUND)
        return replace(emergency, status=status_of(emergency, self._clock.now()))

    async def cancel(self, sender: Sender, receipt: str) -> None:
        """End it; one that has ended stays as it is. Raises: as `read`."""
        await self._end(await self.read(sender, receipt), EmergencyEnd("cancelled"))

    async def cancel_by_tag(self, sender: Sender, tag: str) -> int:
        """End all of the token that carry this tag; return how many."""
        active = await self._store.list_active_emergencies(
            sender.token.id, self._clock.now(), _tag_hash(sender.token.id, tag)
        )
        return await self._cancel_each(active)

    async def cancel_all(self, owner_id: str, token_id: str) -> int:
        """End all of the owner's token, which was revoked; return how many."""
        active = await self._store.list_active_emergencies(token_id, self._clock.now())
        return await self._cancel_each([each for each in active if each.owner_id == owner_id])

    async def acknowledge(self, phone: Device, receipt: str) -> None:
        """End it in the name of this phone's owner; a repeat, also from another phone, changes nothing.

        Raises: ApiError `scope_denied` for a desktop, `not_found`, `emergency_closed` if it was cancelled or has
        expired, `invalid_token` if the phone was removed meanwhile.
        """
        require_phone(phone)
        emergency = await self._find(receipt)
        if emergency.owner_id != phone.owner_id:
            raise ApiError(NOT_FOUND)
        result = await self._end(emergency, EmergencyEnd("acknowledged", phone.id, phone.label))
        if result is Verdict.CLOSED:
            status = status_of(await self._find(receipt), self._clock.now())
            raise ApiError(EMERGENCY_CLOSED, details={"status": status})
        if result is Verdict.DEVICE_REMOVED:
            raise ApiError(INVALID_TOKEN)

    async def sound_due(self) -> int:
        """Ring the emergencies whose next round is due, and end those that have expired; return how many rang or ended.

        Where several processes look, each round rings once.
        """
        sounded = 0
        while due := await self._store.list_due_emergencies(self._clock.now(), DUE_PAGE):
            # All at once: the store commits together what comes together.
            sounded += sum(await asyncio.gather(*map(self._sound, due)))
            if len(due) < DUE_PAGE:
                break
        return sounded

    async def call_back_due(self) -> int:
        """Post to the callbacks of acknowledged emergencies that are due; return how many were taken."""
        due = await self._store.claim_callbacks(self._clock.now(), DUE_PAGE)
        return sum(await asyncio.gather(*map(self._call_back, due)))

    async def _sound(self, emergency: Emergency) -> bool:
        now = self._clock.now()
        if now >= emergency.expires_at:
            return await self._end(emergency, EmergencyEnd("expired")) is Verdict.ACCEPTED
        blobs = await self._store.list_emergency_blobs(emergency.receipt)
        devices = [each for each in await self._store.list_devices(emergency.owner_id) if each.id in blobs]
        at = next_round(emergency, now)
        # A round that was not taken by the next one is dropped: what came first stays to the end.
        topic = emergency.message_id.partition("_")[2]
        again = [Delivery(each.id, blobs[each.id], at, topic=topic) for each in _knowing(devices)]
        rings = self._rings(devices, emergency, now)
        reached = await self._store.sound_emergency(emergency, at, [*again, *rings], now)
        if reached is None:
            return False
        self._wakeups.tell(News(device_ids=reached))
        return True

    def _first_round(
        self, devices: Sequence[Device], emergency: Emergency, message: PushoverMessage, now: float
    ) -> list[Delivery]:
        note = NotificationPayload(**message.body, priority="high")
        plain = make_envelope("notification", emergency.message_id, now, note, **_source_of(emergency))
        others = [device for device in devices if FEATURE not in device.features]
        return [
            *self._sealer.seal_for(_knowing(devices), _text_of(emergency, message.body), emergency.expires_at),
            *self._sealer.seal_for(others, plain, queue_expiry(now)),
            *self._rings(devices, emergency, now),
        ]

    def _rings(self, devices: Sequence[Device], emergency: Emergency, now: float) -> list[Delivery]:
        """Return a ring for each device that does not know emergencies."""
        others = [device for device in devices if FEATURE not in device.features]
        expires_at = int(now) + min(emergency.retry_seconds, RING_DELIVERY_SECONDS)
        payload = RingPayload(min(emergency.retry_seconds, RING_DEFAULT_SECONDS), expires_at, UPDATE_HINT)
        envelope = make_envelope("ring", new_id("msg"), now, payload, **_source_of(emergency))
        return self._sealer.seal_for(others, envelope, expires_at)

    async def _end(self, emergency: Emergency, end: EmergencyEnd) -> Verdict:
        now = self._clock.now()
        payload = EmergencyClosedPayload(end.status, emergency.receipt, end.device_label)
        envelope = make_envelope("emergency.closed", emergency.message_id, now, payload, **_source_of(emergency))
        devices = await self._store.list_devices(emergency.owner_id)
        closings = self._sealer.seal_for(_knowing(devices), envelope, queue_expiry(now))
        result = await self._store.end_emergency(emergency.receipt, end, closings, now)
        if result is None:
            raise ApiError(NOT_FOUND)
        if result.verdict is Verdict.ACCEPTED:
            EMERGENCY_ENDED.log(message=emergency.message_id, status=end.status, device=end.device_id)
            self._wakeups.tell(News(device_ids=[delivery.device_id for delivery in closings]))
        return result.verdict

    async def _cancel_each(self, active: Sequence[Emergency]) -> int:
        verdicts = await asyncio.gather(*(self._end(each, EmergencyEnd("cancelled")) for each in active))
        return sum(verdict is Verdict.ACCEPTED for verdict in verdicts)

    async def _call_back(self, emergency: Emergency) -> bool:
        form = {
            "receipt": emergency.receipt,
            "acknowledged": "1",
            "acknowledged_at": str(emergency.ended_at),
            "acknowledged_by": emergency.owner_id,
            "acknowledged_by_device": emergency.device_label or "",
        }
        if not await self._callbacks.post(emergency.callback or "", form):
            return False
        await self._store.note_called_back(emergency.receipt, self._clock.now())
        return True

    async def _find(self, receipt: str) -> Emergency:
        known = RECEIPT_PATTERN.fullmatch(receipt) is not None
        emergency = await self._store.find_emergency(receipt, self._clock.now()) if known else None
        if emergency is None:
            raise ApiError(NOT_FOUND)
        return emergency


def _text_of(emergency: Emergency, body: Mapping[str, Any]) -> Envelope:
    payload = EmergencyPayload(
        **body,
        receipt=emergency.receipt,
        retry=emergency.retry_seconds,
        expires_at=emergency.expires_at,
    )
    return make_envelope("emergency", emergency.message_id, emergency.created_at, payload, **_source_of(emergency))


def _source_of(emergency: Emergency) -> dict[str, str]:
    return {"token": emergency.token_label, "token_id": emergency.token_id}


def _knowing(devices: Iterable[Device]) -> list[Device]:
    return [device for device in devices if FEATURE in device.features]


def _tag_hash(token_id: str, tag: str) -> bytes:
    """Return what is kept of a tag; it differs from token to token."""
    return sha256(f"{token_id}\n{tag.strip()}".encode()).digest()
