"""Pushover's calls on receipts of emergencies. Their replies are dicts in `api.receipts`. Source: api.md."""

from typing import ClassVar, Final, Literal

import msgspec

from reflecto.api.callers import SENDER_IN_BODY
from reflecto.api.fields.note import HEX_DIGITS, TIME, Notes, a_time, note
from reflecto.api.operations.operation import AnyOperation, Body, Operation, Parameter, done, unread
from reflecto.api.operations.pushover import FORMS, REQUEST, STATUS, TAG, TOKEN_QUERY
from reflecto.contract import errors
from reflecto.contract.ids import RECEIPT_PATTERN
from reflecto.contract.wire import Request


class PushoverTokenRequest(Request, frozen=True, kw_only=True):
    """All that a cancellation needs."""

    field_errors: ClassVar = {"token": errors.INVALID_TOKEN}

    token: str


class PushoverReceipt(msgspec.Struct, frozen=True):
    """How an emergency stands."""

    status: Literal[1]
    acknowledged: Literal[0, 1]
    acknowledged_at: int
    acknowledged_by: str
    acknowledged_by_device: str
    last_delivered_at: int
    expired: Literal[0, 1]
    expires_at: int
    called_back: Literal[0, 1]
    called_back_at: int
    request: str


class PushoverDone(msgspec.Struct, frozen=True):
    """It is done."""

    status: Literal[1]
    request: str


class PushoverCanceled(msgspec.Struct, frozen=True):
    """How many were cancelled."""

    status: Literal[1]
    canceled: int
    request: str


RECEIPT_NOTES: Final[Notes] = {
    PushoverTokenRequest: {"token": note("The sender token, or its short form", "rfk_live_…")},
    PushoverReceipt: {
        "status": STATUS,
        "acknowledged": note("1: somebody has acknowledged it", 1),
        "acknowledged_at": note("When, in Unix seconds; 0: not yet", TIME + 42),
        "acknowledged_by": note("The owner's id; empty: nobody", f"own_{HEX_DIGITS}"),
        "acknowledged_by_device": note("The label of the phone; empty: none", "Pixel 9"),
        "last_delivered_at": a_time("When it rang last"),
        "expired": note("1: it ended by time, or was cancelled", 0),
        "expires_at": a_time("When it ends by time, or was cancelled", 3600),
        "called_back": note("1: the callback was taken", 0),
        "called_back_at": note("When, in Unix seconds; 0: not yet", 0),
        "request": REQUEST,
    },
    PushoverDone: {"status": STATUS, "request": REQUEST},
    PushoverCanceled: {"status": STATUS, "canceled": note("How many", 1), "request": REQUEST},
}

_RECEIPTS: Final = "Only the token that sent it finds an emergency, for a week."
_RECEIPT_PATH: Final = Parameter(
    name="receipt",
    place="path",
    description="The emergency's receipt",
    schema={"type": "string", "pattern": f"^{RECEIPT_PATTERN.pattern}$"},
)

RECEIPTS: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="GET",
        path="/1/receipts/{receipt}.json",
        id="pushoverReceipt",
        tag=TAG,
        summary="Read how an emergency stands",
        description=_RECEIPTS,
        curl='curl "$REFLECTO_URL/1/receipts/$RECEIPT.json?token=$REFLECTO_TOKEN"',
        caller=SENDER_IN_BODY,
        parameters=(_RECEIPT_PATH, TOKEN_QUERY),
        successes=(done(200, "The receipt.", PushoverReceipt),),
        errors=(errors.NOT_FOUND,),
        error_shape="pushover",
    ),
    Operation(
        method="POST",
        path="/1/receipts/{receipt}/cancel.json",
        id="pushoverCancel",
        tag=TAG,
        summary="Cancel an emergency",
        description="It rings no more. One that has ended stays as it is.",
        curl='curl "$REFLECTO_URL/1/receipts/$RECEIPT/cancel.json" -d "token=$REFLECTO_TOKEN"',
        caller=SENDER_IN_BODY,
        body=Body(unread, PushoverTokenRequest, FORMS),
        parameters=(_RECEIPT_PATH,),
        successes=(done(200, "It has ended.", PushoverDone),),
        errors=(errors.NOT_FOUND,),
        error_shape="pushover",
    ),
    Operation(
        method="POST",
        path="/1/receipts/cancel_by_tag/{tag}.json",
        id="pushoverCancelByTag",
        tag=TAG,
        summary="Cancel the emergencies of a tag",
        description="All that this token sent with the tag and that have not ended.",
        curl='curl "$REFLECTO_URL/1/receipts/cancel_by_tag/db1.json" -d "token=$REFLECTO_TOKEN"',
        caller=SENDER_IN_BODY,
        body=Body(unread, PushoverTokenRequest, FORMS),
        parameters=(Parameter(name="tag", place="path", description="The tag", schema={"type": "string"}),),
        successes=(done(200, "How many there were.", PushoverCanceled),),
        error_shape="pushover",
    ),
)
