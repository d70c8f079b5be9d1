"""Messages, documents, rings, reminders and the devices they go to. Source: api.md."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from reflecto.api.bodies import message_of, read_fields
from reflecto.api.callers import SENDER, SENDER_IN_PATH
from reflecto.api.foreign import in_our_words
from reflecto.api.http import Call, Reply
from reflecto.api.keyed import by_token
from reflecto.api.operations.operation import (
    AS_SENDER,
    JSON,
    MULTIPART,
    SENDING_JSON,
    TEXT,
    URLENCODED,
    Admitted,
    Body,
    Operation,
    Parameter,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.api.use_cases import UseCases
from reflecto.contract import errors
from reflecto.contract.caveats import Caveat
from reflecto.contract.limits import (
    DOCUMENT_BODY_MAX_BYTES,
    DOCUMENT_MAX_BYTES,
    ENVELOPE_MAX_BYTES,
    RING_DELIVERY_SECONDS,
)
from reflecto.contract.messages import (
    DocumentRequest,
    DocumentResponse,
    ReminderList,
    ReminderRequest,
    ReminderResponse,
    RingRequest,
    SendRequest,
    SendResponse,
)
from reflecto.core.sender import Sender

TAG: Final = "Messages"
SEND_ERRORS: Final = (errors.MESSAGE_TOO_LONG, errors.PRIORITY_CAPPED, errors.SCOPE_DENIED, errors.QUEUE_FULL)
_TOKEN: Final = Parameter(
    name="token",
    place="path",
    description="The sender token; it is taken out of every log line",
    schema={"type": "string", "pattern": "^rfk_(live|test)_[A-Za-z0-9]{32}$"},
)
_NTFY_HEADERS: Final = tuple(
    Parameter(name=name, place="header", description=f"{what}. Only beside plain text", schema={"type": "string"})
    for name, what in (
        ("Title", "ntfy's `title`; also `X-Title`, `ti`, `t`"),
        (
            "Priority",
            "ntfy's `priority`, 1 to 5 or a name; also `X-Priority`, `prio`, `p`. `u=1` is ignored",
        ),
        ("Tags", "ntfy's `tags`, separated by commas; also `X-Tags`, `Tag`, `ta`"),
        ("Click", "ntfy's name of `url`; also `X-Click`"),
        ("Markdown", "ntfy's `markdown`: `1`, `yes`, `true`; also `X-Markdown`, `md`"),
    )
)
_QUEUED: Final = (
    "It is in the queues of the devices named; no device at all is a warning, not an error, and so is one whose queue "
    "is full while another takes it."
)


class MessageBody(msgspec.Struct, frozen=True):
    """A message, in whatever form it came, and caveats about what was only guessed of it."""

    message: SendRequest
    caveats: list[Caveat]


async def read_message(_use_cases: UseCases, call: Call) -> MessageBody:
    """Read JSON, a form, or just the text. Raises: ApiError, as `read_fields` and `message_of`."""
    fields, typed = await read_fields(call, SendRequest)
    fields, caveats = in_our_words(fields, call.media_type, call.scope["headers"], typed=typed)
    return MessageBody(message_of(SendRequest, fields, typed=typed), caveats)


MESSAGE: Final = Body(read_message, SendRequest, (JSON, URLENCODED, MULTIPART, TEXT))


async def send(call: Admitted[Sender, MessageBody]) -> Reply:
    """Send a message: 200 with the devices whose queues hold it."""

    def replied(sent: SendResponse) -> Reply:
        return Reply(200, msgspec.structs.replace(sent, warnings=(*call.body.caveats, *sent.warnings)))

    return await call.once(partial(call.use_cases.messages.send, call.caller, call.body.message), replied)


async def send_document(call: Admitted[Sender, DocumentRequest]) -> Reply:
    """Send a text file: 201 with the devices whose queues hold it."""
    return await call.once(partial(call.use_cases.documents.send, call.caller, call.body), partial(Reply, 201))


async def ring(call: Admitted[Sender, RingRequest]) -> Reply:
    """Make the phones sound: 200 with those whose queues hold the ring."""
    return await call.once(partial(call.use_cases.rings.ring, call.caller, call.body), partial(Reply, 200))


async def set_reminder(call: Admitted[Sender, ReminderRequest]) -> Reply:
    """Set a reminder: 201 with its id and time."""
    return await call.once(partial(call.use_cases.reminders.set, call.caller, call.body), partial(Reply, 201))


async def list_reminders(call: Admitted[Sender, None]) -> Reply:
    """Reply 200 with the token's waiting reminders, the next one first."""
    return Reply(200, await call.use_cases.reminders.list_for(call.caller))


async def drop_reminder(call: Admitted[Sender, None]) -> Reply:
    """Drop a waiting reminder: 204."""
    await call.use_cases.reminders.drop(call.caller, call.path_params["id"])
    return Reply(204)


SENDING: Final = (
    Operation(
        method="POST",
        path="/v1/send",
        caller=SENDER,
        handler=send,
        body=MESSAGE,
        keyed_by=by_token,
        limited=True,
        id="sendMessage",
        tag=TAG,
        summary="Send a notification",
        description=(
            "The body may be JSON, a form, or just the text: `text/plain`, no Content-Type, or what `curl -d` sends, "
            "as long as no field's name stands before a `=` in it. In a form, `tags` are separated by commas and "
            "`actions` is JSON. Beside plain text, ntfy's headers are the fields; `text/markdown` is Markdown.\n\n"
            f"What goes to the devices is at most {ENVELOPE_MAX_BYTES} bytes in all, else `payload_too_large`."
        ),
        curl=curl('"$REFLECTO_URL/v1/send"', AS_SENDER, '-d "Backup finished"'),
        parameters=_NTFY_HEADERS,
        successes=(done(200, _QUEUED, SendResponse),),
        errors=SEND_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/send/{token}",
        caller=SENDER_IN_PATH,
        handler=send,
        body=MESSAGE,
        keyed_by=by_token,
        limited=True,
        id="sendMessageByUrl",
        tag=TAG,
        summary="Send a notification from where only a URL can be set",
        description="The same as `POST /v1/send`, with the token in the path.",
        curl=curl(
            '"$REFLECTO_URL/v1/send/$REFLECTO_TOKEN"',
            '-d title=nas -d priority=high --data-urlencode "message=Disk 3 is failing & getting hot"',
        ),
        parameters=(_TOKEN, *_NTFY_HEADERS),
        successes=(done(200, _QUEUED, SendResponse),),
        errors=SEND_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/documents",
        caller=SENDER,
        handler=send_document,
        body=json_body(DocumentRequest, DOCUMENT_BODY_MAX_BYTES),
        keyed_by=by_token,
        limited=True,
        id="sendDocument",
        tag=TAG,
        summary="Send a text file to the downloads",
        description=f"At most {DOCUMENT_MAX_BYTES} bytes (128 KiB) of UTF-8, under a name no system trips over.",
        curl=curl(
            '"$REFLECTO_URL/v1/documents"',
            AS_SENDER,
            SENDING_JSON,
            '-d \'{"filename": "report.md", "content": "# Nightly report\\n\\nAll green.\\n"}\'',
        ),
        successes=(done(201, _QUEUED, DocumentResponse),),
        errors=(errors.SCOPE_DENIED, errors.QUEUE_FULL),
    ),
    Operation(
        method="POST",
        path="/v1/ring",
        caller=SENDER,
        handler=ring,
        body=json_body(RingRequest),
        keyed_by=by_token,
        limited=True,
        id="ring",
        tag=TAG,
        summary="Make the phones sound",
        description=(
            f"A phone that does not get it within {RING_DELIVERY_SECONDS} seconds does not sound later. "
            "The priority is `high`."
        ),
        curl=curl('"$REFLECTO_URL/v1/ring"', AS_SENDER, SENDING_JSON, "-d '{\"duration\": 30}'"),
        successes=(done(200, "It is in the queues of the phones named.", SendResponse),),
        errors=(*SEND_ERRORS, errors.NO_PHONE_DEVICE),
    ),
    Operation(
        method="POST",
        path="/v1/reminders",
        caller=SENDER,
        handler=set_reminder,
        body=json_body(ReminderRequest),
        keyed_by=by_token,
        limited=True,
        id="createReminder",
        tag=TAG,
        summary="Set a reminder",
        description=(
            "It comes once, also after a restart. If the server is down at that time it comes as soon as it is up, "
            "marked as late."
        ),
        curl=curl(
            '"$REFLECTO_URL/v1/reminders"',
            AS_SENDER,
            SENDING_JSON,
            '-d "{\\"message\\": \\"Stand-up\\", \\"at\\": $(($(date +%s) + 3600))}"',
        ),
        successes=(done(201, "It is kept durably until it is due.", ReminderResponse),),
        errors=(errors.SCOPE_DENIED, errors.TOO_MANY_REMINDERS),
    ),
    Operation(
        method="GET",
        path="/v1/reminders",
        caller=SENDER,
        handler=list_reminders,
        id="listReminders",
        tag=TAG,
        summary="List the token's waiting reminders",
        description="Those of other tokens are not listed.",
        curl=curl('"$REFLECTO_URL/v1/reminders"', AS_SENDER),
        successes=(done(200, "The reminders that wait.", ReminderList),),
    ),
    Operation(
        method="DELETE",
        path="/v1/reminders/{id}",
        caller=SENDER,
        handler=drop_reminder,
        id="deleteReminder",
        tag=TAG,
        summary="Drop a reminder",
        description="One that has come is gone: `not_found`.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/reminders/$REMINDER_ID"', AS_SENDER),
        parameters=(path_id("rem", "reminder"),),
        successes=(done(204, "It will not come."),),
        errors=(errors.NOT_FOUND,),
    ),
)
