"""Pushover's calls on receipts of emergencies. Source: api.md."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from reflecto.api.callers import SENDER_IN_BODY
from reflecto.api.http import Reply
from reflecto.api.operations.operation import Admitted, Operation, Parameter, done
from reflecto.api.operations.pushover import TAG, TOKEN_QUERY, PushoverTokenRequest, RequestId, Succeeded, pushover_body
from reflecto.api.pushover_fields import PushoverFields
from reflecto.api.pushover_shape import request_id
from reflecto.contract import errors
from reflecto.contract.ids import RECEIPT_PATTERN
from reflecto.contract.notes import HEX_DIGITS, TIME, a_time, note
from reflecto.core.model import Emergency
from reflecto.core.sender import Sender


class PushoverReceipt(msgspec.Struct, frozen=True):
    """How an emergency stands."""

    status: Succeeded
    acknowledged: Annotated[Literal[0, 1], note("1: somebody has acknowledged it", 1)]
    acknowledged_at: Annotated[int, note("When, in Unix seconds; 0: not yet", TIME + 42)]
    acknowledged_by: Annotated[str, note("The owner's id; empty: nobody", f"own_{HEX_DIGITS}")]
    acknowledged_by_device: Annotated[str, note("The label of the phone; empty: none", "Pixel 9")]
    last_delivered_at: Annotated[int, a_time("When it rang last")]
    expired: Annotated[Literal[0, 1], note("1: it ended by time, or was cancelled", 0)]
    expires_at: Annotated[int, a_time("When it ends by time, or was cancelled", 3600)]
    called_back: Annotated[Literal[0, 1], note("1: the callback was taken", 0)]
    called_back_at: Annotated[int, note("When, in Unix seconds; 0: not yet", 0)]
    request: RequestId


class PushoverDone(msgspec.Struct, frozen=True):
    """It is done."""

    status: Succeeded
    request: RequestId


class PushoverCanceled(msgspec.Struct, frozen=True):
    """How many were cancelled."""

    status: Succeeded
    canceled: Annotated[int, note("How many", 1)]
    request: RequestId


_RECEIPTS: Final = "Only the token that sent it finds an emergency, for a week."
_RECEIPT_PATH: Final = Parameter(
    name="receipt",
    place="path",
    description="The emergency's receipt",
    schema={"type": "string", "pattern": f"^{RECEIPT_PATTERN.pattern}$"},
)


async def read(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Reply 200 with an emergency's state in Pushover's fields."""
    emergency = await call.use_cases.emergencies.read(call.caller, call.path_params["receipt"])
    return Reply(200, {"status": 1, **_receipt(emergency), "request": request_id()})


async def cancel(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Cancel the emergency in the path: 200, also where it had ended."""
    await call.use_cases.emergencies.cancel(call.caller, call.path_params["receipt"])
    return Reply(200, {"status": 1, "request": request_id()})


async def cancel_by_tag(call: Admitted[Sender, PushoverFields]) -> Reply:
    """Cancel the token's emergencies with this tag: 200 with how many."""
    canceled = await call.use_cases.emergencies.cancel_by_tag(call.caller, call.path_params["tag"])
    return Reply(200, {"status": 1, "canceled": canceled, "request": request_id()})


def _receipt(emergency: Emergency) -> dict[str, Any]:
    """Return how the emergency stands, in Pushover's fields; a cancelled one has expired when it was cancelled."""
    acknowledged = emergency.status == "acknowledged"
    return {
        "acknowledged": int(acknowledged),
        "acknowledged_at": emergency.ended_at if acknowledged else 0,
        "acknowledged_by": emergency.owner_id if acknowledged else "",
        "acknowledged_by_device": emergency.device_label or "",
        "last_delivered_at": emergency.last_delivered_at,
        "expired": int(emergency.status in {"expired", "cancelled"}),
        "expires_at": emergency.ended_at if emergency.status == "cancelled" else emergency.expires_at,
        "called_back": int(emergency.called_back_at is not None),
        "called_back_at": emergency.called_back_at or 0,
    }


RECEIPTS: Final = (
    Operation(
        method="GET",
        path="/1/receipts/{receipt}.json",
        caller=SENDER_IN_BODY,
        handler=read,
        error_shape="pushover",
        id="pushoverReceipt",
        tag=TAG,
        summary="Read how an emergency stands",
        description=_RECEIPTS,
        curl='curl "$REFLECTO_URL/1/receipts/$RECEIPT.json?token=$REFLECTO_TOKEN"',
        body=pushover_body(),
        parameters=(_RECEIPT_PATH, TOKEN_QUERY),
        successes=(done(200, "The receipt.", PushoverReceipt),),
        errors=(errors.NOT_FOUND,),
    ),
    Operation(
        method="POST",
        path="/1/receipts/{receipt}/cancel.json",
        caller=SENDER_IN_BODY,
        handler=cancel,
        body=pushover_body(PushoverTokenRequest),
        error_shape="pushover",
        id="pushoverCancel",
        tag=TAG,
        summary="Cancel an emergency",
        description="It rings no more. One that has ended stays as it is.",
        curl='curl "$REFLECTO_URL/1/receipts/$RECEIPT/cancel.json" -d "token=$REFLECTO_TOKEN"',
        parameters=(_RECEIPT_PATH,),
        successes=(done(200, "It has ended.", PushoverDone),),
        errors=(errors.NOT_FOUND,),
    ),
    Operation(
        method="POST",
        path="/1/receipts/cancel_by_tag/{tag}.json",
        caller=SENDER_IN_BODY,
        handler=cancel_by_tag,
        body=pushover_body(PushoverTokenRequest),
        error_shape="pushover",
        id="pushoverCancelByTag",
        tag=TAG,
        summary="Cancel the emergencies of a tag",
        description="All that this token sent with the tag and that have not ended.",
        curl='curl "$REFLECTO_URL/1/receipts/cancel_by_tag/db1.json" -d "token=$REFLECTO_TOKEN"',
        parameters=(
            Parameter(
                name="tag", place="path", description="The tag", schema={"type": "string"}, may_have_slashes=True
            ),
        ),
        successes=(done(200, "How many there were.", PushoverCanceled),),
    ),
)
