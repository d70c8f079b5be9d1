"""Reminders: sealed when they are set, queued when they are due. Source: api.md "POST /v1/reminders".

At its time no token is in flight, so each device's envelope is sealed at once, in both forms it may take: on time, and
late because the server was down. The devices are those there are when it is set.
"""

import asyncio
import re
from datetime import datetime
from typing import Final

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.envelopes import ReminderPayload
from reflecto.contract.errors import INVALID_AT, INVALID_TITLE, INVALID_TOKEN, NOT_FOUND, TOO_MANY_REMINDERS
from reflecto.contract.ids import is_id, new_id
from reflecto.contract.limits import (
    QUEUE_FULL_RETRY_AFTER_SECONDS,
    QUEUE_TTL_MAX_SECONDS,
    REMINDER_LATE_SECONDS,
    REMINDER_MAX_AHEAD_SECONDS,
    REMINDER_MIN_AHEAD_SECONDS,
    TITLE_MAX_BYTES,
)
from reflecto.contract.messages import ReminderList, ReminderRequest, ReminderResponse, ReminderState
from reflecto.core.checks import check_bytes
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.events import MESSAGE_SENT
from reflecto.core.model import Device, Reminder, ReminderDelivery
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.quotas import Quotas
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Addition
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry, source_of
from reflecto.core.sender import Sender
from reflecto.core.targets import check_selector
from reflecto.crypto.envelopes import open_blob, seal

DUE_PAGE: Final = 100  # fired at a time
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def fire_time(at: int | str, now: float) -> int:
    """Return Unix seconds, from 60 s to 365 days ahead of `now`. Raises: ApiError `invalid_at`."""
    if isinstance(at, str):
        if not _RFC3339.fullmatch(at):
            raise ApiError(INVALID_AT)
        try:
            at = int(datetime.fromisoformat(at.upper()).timestamp())
        except (ValueError, OverflowError):
            raise ApiError(INVALID_AT) from None
    if not REMINDER_MIN_AHEAD_SECONDS <= at - int(now) <= REMINDER_MAX_AHEAD_SECONDS:
        raise ApiError(INVALID_AT)
    return at


class _Sealed(msgspec.Struct, frozen=True):
    """The JSON inside `Reminder.sealed`."""

    message: str
    title: str | None


class Reminders:
    """Reminders: set, listed and dropped by senders, delivered when they are due."""

    def __init__(
        self, store: Store, dispatcher: Dispatcher, wakeups: Wakeups, sealer: Sealer, quotas: Quotas, clock: Clock
    ) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._wakeups = wakeups
        self._sealer = sealer
        self._quotas = quotas
        self._clock = clock

    async def set(
        self, sender: Sender, request: ReminderRequest, keeping: Keeping[ReminderResponse] | None = None
    ) -> ReminderResponse:
        """Keep the reminder durably until it is due.

        Raises: ApiError for a field out of bounds, `scope_denied`, `rate_limit_exceeded`, `too_many_reminders`,
        `invalid_token` if it was revoked meanwhile.
        """
        now = self._clock.now()
        fire_at = fire_time(request.at, now)
        if request.title is not None:
            check_bytes(request.title, TITLE_MAX_BYTES, INVALID_TITLE)
        check_selector(request.device)
        sender.require("remind")
        text = msgspec.json.encode(_Sealed(request.message, request.title))
        reminder = Reminder(
            id=new_id("rem"),
            owner_id=sender.token.owner_id,
            token_id=sender.token.id,
            sealed=seal(sender.keys.sealing, text),
            created_at=int(now),
            fire_at=fire_at,
        )
        async with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            devices, caveats = await self._dispatcher.devices_meant(sender, request.device)

            def response_to(addition: Addition) -> ReminderResponse:
                if addition is Addition.TOO_MANY:
                    raise ApiError(TOO_MANY_REMINDERS)
                if addition is Addition.REVOKED:
                    raise ApiError(INVALID_TOKEN)
                return ReminderResponse(reminder.id, fire_at, tuple(caveats))

            deliveries = self._seal(sender, request, reminder, devices)
            keep = keep_of(keeping, reminder.owner_id, response_to)
            return response_to(await self._store.add_reminder(reminder, deliveries, keep))

    async def list_for(self, sender: Sender) -> ReminderList:
        """Return the token's waiting reminders, the next one first."""
        reminders = await self._store.list_reminders(sender.token.id)
        # In a thread: a thousand of them take longer to open than others should wait.
        return await asyncio.to_thread(
            lambda: ReminderList(tuple(self._state_of(sender, reminder) for reminder in reminders))
        )

    async def drop(self, sender: Sender, reminder_id: str) -> None:
        """Drop one that waits. Raises: ApiError `not_found`, also for another token's or one that has fired."""
        if not is_id(reminder_id, "rem") or not await self._store.drop_reminder(sender.token.id, reminder_id):
            raise ApiError(NOT_FOUND)

    async def fire_due(self) -> int:
        """Queue what is due, each once whichever process is first; return how many this one fired."""
        fired = 0
        while due := await self._store.list_due_reminders(self._clock.now(), DUE_PAGE):
            # All at once: the store commits together what comes together.
            fired += sum(await asyncio.gather(*(self._fire(*each) for each in due)))
            if len(due) < DUE_PAGE:
                break
        return fired

    async def _fire(self, reminder_id: str, fire_at: int) -> bool:
        now = self._clock.now()
        late = now - fire_at > REMINDER_LATE_SECONDS
        # While no queue has room it waits, for as long as it would have waited in one.
        retry_at = int(now) + QUEUE_FULL_RETRY_AFTER_SECONDS
        keep = retry_at <= fire_at + QUEUE_TTL_MAX_SECONDS
        reached = await self._store.fire_reminder(
            reminder_id, queue_expiry(now), late=late, retry_at=retry_at if keep else None
        )
        if reached is None:
            return False
        self._wakeups.tell(News(device_ids=reached))
        MESSAGE_SENT.log(message=reminder_id, type="reminder", devices=len(reached))
        return True

    def _seal(
        self, sender: Sender, request: ReminderRequest, reminder: Reminder, devices: list[Device]
    ) -> list[ReminderDelivery]:
        def sealed(*, late: bool) -> list[bytes]:
            payload = ReminderPayload(request.message, reminder.fire_at, request.title, late)
            envelope = make_envelope("reminder", reminder.id, reminder.fire_at, payload, **source_of(sender.token))
            return [delivery.blob for delivery in self._sealer.seal_for(devices, envelope, reminder.fire_at)]

        return [
            ReminderDelivery(device.id, on_time, late)
            for device, on_time, late in zip(devices, sealed(late=False), sealed(late=True), strict=True)
        ]

    def _state_of(self, sender: Sender, reminder: Reminder) -> ReminderState:
        text = msgspec.json.decode(open_blob(sender.keys.sealing, reminder.sealed), type=_Sealed)
        return ReminderState(reminder.id, text.message, text.title, reminder.fire_at, reminder.created_at)
