"""Wire models of a device's queue: what waits in it, and up to where the device has it. Source: devices.md."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.limits import QUEUE_TTL_MAX_SECONDS, SEQ_MAX
from reflecto.contract.notes import Note, a_time, note
from reflecto.contract.wire import Request


class SyncEntry(msgspec.Struct, frozen=True):
    """The data of one `message` event: `blob` is the wire blob in base64, `expires_at` Unix seconds."""

    seq: Annotated[int, note("The entry's number in this device's queue; rises strictly", 7)]
    sender: Annotated[str, note("The id of the device that sent it, or `server`", "server")] = msgspec.field(
        name="from"
    )
    blob: Annotated[str, note("The wire blob, base64", "AaWf…")]
    expires_at: Annotated[int, a_time("When it is dropped", QUEUE_TTL_MAX_SECONDS)]


class AckRequest(Request, frozen=True, kw_only=True):
    """Everything up to and including `seq` is safely stored on the device."""

    field_errors: ClassVar = {"seq": errors.INVALID_SEQ}

    seq: Annotated[int, Meta(ge=0, le=SEQ_MAX), note("The device has everything up to this number", 7)]


class SyncPage(msgspec.Struct, frozen=True):
    """Some of what waits in the device's queue, in order; empty when nothing does."""

    entries: Annotated[tuple[SyncEntry, ...], Note("In order; empty when nothing waits")]
