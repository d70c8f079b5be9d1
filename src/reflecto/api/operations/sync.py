"""What devices receive: the stream, pages of the queue, the key for pushes. Source: devices.md "Sync", "Push"."""

from __future__ import annotations

from typing import Final

from reflecto.api.auth import bearer_of
from reflecto.api.callers import DEVICE
from reflecto.api.http import Call, Reply
from reflecto.api.operations.operation import (
    AS_DEVICE,
    SENDING_JSON,
    Admitted,
    Operation,
    Parameter,
    Success,
    curl,
    done,
    json_body,
)
from reflecto.api.sync import HEADERS, SyncStream, entry_of
from reflecto.contract.devices import PushKeyResponse
from reflecto.contract.limits import SEQ_MAX
from reflecto.contract.sync import AckRequest, SyncPage
from reflecto.core.devices import sync_start
from reflecto.core.model import Device

TAG: Final = "Devices"
_AFTER: Final = Parameter(
    name="after",
    place="query",
    description="The last number the device has; one the server cannot have issued counts as none",
    schema={"type": "string", "examples": ["7"]},
)
_LAST_EVENT_ID: Final = Parameter(
    name="Last-Event-ID", place="header", description="The same, as browsers send it", schema={"type": "string"}
)


async def sync(call: Admitted[Device, None]) -> None:
    """Send what waits and what comes, until the device leaves."""
    device, devices, wakeups = call.caller, call.use_cases.devices, call.use_cases.wakeups
    stream = SyncStream(call, devices, device.id, sync_start(device, _cursor_of(call)))
    with wakeups.open_stream(device.id, stream):
        # Again, now that a revocation would end the stream: one in between must not slip through.
        await devices.authenticate(bearer_of(call))
        await stream.run()


async def describe_sync(_call: Admitted[Device, None]) -> Reply:
    """Answer HEAD: a stream without a body would never end, and block its connection."""
    return Reply(200, None, {name.decode(): value.decode() for name, value in HEADERS if name != b"cache-control"})


async def read_entries(call: Admitted[Device, None]) -> Reply:
    """Reply 200 with up to SYNC_PAGE_ENTRIES entries behind `after`."""
    page = await call.use_cases.devices.read_queue(call.caller.id, sync_start(call.caller, _cursor_of(call)))
    return Reply(200, SyncPage(tuple(entry_of(entry) for entry in page)))


async def read_push_key(call: Admitted[Device, None]) -> Reply:
    """Reply 200 with the server's VAPID public key."""
    return Reply(200, PushKeyResponse(call.use_cases.push_key))


async def acknowledge(call: Admitted[Device, AckRequest]) -> Reply:
    """Drop the entries up to `seq` from the device's queue: 204."""
    await call.use_cases.devices.ack(call.caller, call.body.seq)
    return Reply(204)


def _cursor_of(call: Call) -> int | None:
    """Return the client's cursor; one that this server cannot have issued counts as none."""
    given = call.query("after") or call.header(b"last-event-id") or ""
    return int(given) if given.isascii() and given.isdigit() and len(given) <= len(str(SEQ_MAX)) else None


SYNC: Final = (
    Operation(
        method="GET",
        path="/v1/sync",
        caller=DEVICE,
        handler=sync,
        head=describe_sync,
        id="sync",
        tag=TAG,
        summary="Receive what is sent, as it comes",
        description=(
            "Server-Sent Events: first the backlog, then what comes. Each event is a `SyncEntry` under its `seq`; "
            "a comment comes every 20 seconds."
        ),
        curl=curl('-N "$REFLECTO_URL/v1/sync"', AS_DEVICE),
        parameters=(_AFTER, _LAST_EVENT_ID),
        successes=(Success(status=200, description="The stream.", content_type="text/event-stream"),),
    ),
    Operation(
        method="GET",
        path="/v1/sync/entries",
        caller=DEVICE,
        handler=read_entries,
        id="readQueue",
        tag=TAG,
        summary="Read some of what waits",
        description="For a device that was woken and cannot keep a stream.",
        curl=curl('"$REFLECTO_URL/v1/sync/entries?after=0"', AS_DEVICE),
        parameters=(_AFTER, _LAST_EVENT_ID),
        successes=(done(200, "The next entries.", SyncPage),),
    ),
    Operation(
        method="GET",
        path="/v1/push/key",
        caller=DEVICE,
        handler=read_push_key,
        id="readPushKey",
        tag=TAG,
        summary="Read the server's key for Web Push",
        description="What a browser needs to subscribe; the subscription is reported with `PATCH /v1/devices/self`.",
        curl=curl('"$REFLECTO_URL/v1/push/key"', AS_DEVICE),
        successes=(done(200, "The key.", PushKeyResponse),),
    ),
    Operation(
        method="POST",
        path="/v1/sync/ack",
        caller=DEVICE,
        handler=acknowledge,
        body=json_body(AckRequest),
        id="acknowledge",
        tag=TAG,
        summary="Let the server drop what the device has",
        description="Everything up to and including `seq`.",
        curl=curl('"$REFLECTO_URL/v1/sync/ack"', AS_DEVICE, SENDING_JSON, "-d '{\"seq\": 0}'"),
        successes=(done(204, "It is dropped."),),
    ),
)
