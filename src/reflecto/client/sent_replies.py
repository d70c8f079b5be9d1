"""Replies to what was sent to devices, read into results or errors. No I/O. Source: send.md."""

from typing import TypeVar

import msgspec

from reflecto.client.errors import BrokenContract
from reflecto.client.protocol import HttpReply
from reflecto.client.replies import decode, raise_refusal
from reflecto.client.results import Caveat, Delivery, DeviceStatus, Reminder, ReminderSet, Sent, SentFile
from reflecto.contract import messages as wire
from reflecto.contract.caveats import Caveat as WireCaveat
from reflecto.contract.devices import DeviceList
from reflecto.contract.ids import IdPrefix, is_id
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER

M = TypeVar("M", bound=msgspec.Struct)


class _Health(msgspec.Struct, frozen=True):
    repeats: str | None = None  # an older server does not say


def read_sent(reply: HttpReply) -> Sent:
    """Return what became of a message or a ring. Raises: ApiError, BrokenContract."""
    sent = _accepted(reply, wire.SendResponse)
    _expect_id(sent.id, "msg")
    return Sent(sent.id, _deliveries(sent.delivered_to), _caveats(sent.warnings))


def read_sent_file(reply: HttpReply) -> SentFile:
    """Return what became of a document. Raises: ApiError, BrokenContract."""
    sent = _accepted(reply, wire.DocumentResponse)
    _expect_id(sent.document_id, "doc")
    return SentFile(sent.document_id, sent.byte_length, _deliveries(sent.delivered_to), _caveats(sent.warnings))


def read_reminder_set(reply: HttpReply) -> ReminderSet:
    """Return the reminder that was set. Raises: ApiError, BrokenContract."""
    made = _accepted(reply, wire.ReminderResponse)
    _expect_id(made.reminder_id, "rem")
    return ReminderSet(made.reminder_id, made.fire_at, _caveats(made.warnings))


def read_reminders(reply: HttpReply) -> tuple[Reminder, ...]:
    """Return the waiting reminders, the next one first. Raises: ApiError, BrokenContract."""
    waiting = _accepted(reply, wire.ReminderList).reminders
    return tuple(
        Reminder(each.reminder_id, each.message, each.title, each.fire_at, each.created_at) for each in waiting
    )


def read_devices(reply: HttpReply) -> tuple[DeviceStatus, ...]:
    """Return the owner's devices. Raises: ApiError, BrokenContract."""
    return tuple(
        DeviceStatus(
            device_id=each.device_id,
            label=each.label,
            type=each.type,
            device_class=each.device_class,
            reachable=each.reachable,
            last_seen_at=each.last_seen_at,
            app_build=each.app_build,
        )
        for each in _accepted(reply, DeviceList).devices
    )


def read_nothing(reply: HttpReply) -> None:
    """Check that the server has done it; the reply has no content. Raises: ApiError, BrokenContract."""
    if reply.status != 204:
        raise_refusal(reply)


def read_clock(reply: HttpReply) -> float | None:
    """Return the server's time (Unix seconds), where the reply tells it. Raises: ApiError, BrokenContract."""
    if reply.status != 200:
        raise_refusal(reply)
    return reply.sent_at


def read_knows_keys(reply: HttpReply) -> bool:
    """Tell whether the server recognises repeats by their Idempotency-Key. Raises: ApiError, BrokenContract."""
    if reply.status != 200:
        raise_refusal(reply)
    return decode(reply, _Health).repeats == IDEMPOTENCY_KEY_HEADER


def _accepted(reply: HttpReply, model: type[M]) -> M:
    if reply.status not in (200, 201):
        raise_refusal(reply)
    return decode(reply, model)


def _expect_id(text: str, prefix: IdPrefix) -> None:
    if not is_id(text, prefix):
        raise BrokenContract("the reply does not name what was sent")


def _deliveries(delivered_to: tuple[wire.DeliveredTo, ...]) -> tuple[Delivery, ...]:
    return tuple(Delivery(each.device_id, each.type) for each in delivered_to)


def _caveats(warnings: tuple[WireCaveat, ...]) -> tuple[Caveat, ...]:
    return tuple(Caveat(each.code, each.message) for each in warnings)
