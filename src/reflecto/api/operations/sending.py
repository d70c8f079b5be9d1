"""Messages, documents, rings, reminders and the devices they go to. Source: api.md."""

from typing import Final

from reflecto.api.callers import SENDER, SENDER_IN_PATH
from reflecto.api.operations.operation import (
    AS_SENDER,
    JSON,
    MULTIPART,
    SENDING_JSON,
    TEXT,
    URLENCODED,
    AnyOperation,
    Body,
    Operation,
    Parameter,
    curl,
    done,
    json_body,
    path_id,
    unread,
)
from reflecto.contract import errors
from reflecto.contract.limits import DOCUMENT_MAX_BYTES, ENVELOPE_MAX_BYTES, RING_DELIVERY_SECONDS
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

TAG: Final = "Messages"
SEND_FORMS: Final = (JSON, URLENCODED, MULTIPART, TEXT)
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

SENDING: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="POST",
        path="/v1/send",
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
        caller=SENDER,
        body=Body(unread, SendRequest, SEND_FORMS),
        parameters=_NTFY_HEADERS,
        successes=(done(200, _QUEUED, SendResponse),),
        errors=SEND_ERRORS,
        limited=True,
    ),
    Operation(
        method="POST",
        path="/v1/send/{token}",
        id="sendMessageByUrl",
        tag=TAG,
        summary="Send a notification from where only a URL can be set",
        description="The same as `POST /v1/send`, with the token in the path.",
        curl=curl(
            '"$REFLECTO_URL/v1/send/$REFLECTO_TOKEN"',
            '-d title=nas -d priority=high --data-urlencode "message=Disk 3 is failing & getting hot"',
        ),
        caller=SENDER_IN_PATH,
        body=Body(unread, SendRequest, SEND_FORMS),
        parameters=(_TOKEN, *_NTFY_HEADERS),
        successes=(done(200, _QUEUED, SendResponse),),
        errors=SEND_ERRORS,
        limited=True,
    ),
    Operation(
        method="POST",
        path="/v1/documents",
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
        caller=SENDER,
        body=json_body(DocumentRequest),
        successes=(done(201, _QUEUED, DocumentResponse),),
        errors=(errors.SCOPE_DENIED, errors.QUEUE_FULL),
        limited=True,
    ),
    Operation(
        method="POST",
        path="/v1/ring",
        id="ring",
        tag=TAG,
        summary="Make the phones sound",
        description=(
            f"A phone that does not get it within {RING_DELIVERY_SECONDS} seconds does not sound later. "
            "The priority is `high`."
        ),
        curl=curl('"$REFLECTO_URL/v1/ring"', AS_SENDER, SENDING_JSON, "-d '{\"duration\": 30}'"),
        caller=SENDER,
        body=json_body(RingRequest),
        successes=(done(200, "It is in the queues of the phones named.", SendResponse),),
        errors=(*SEND_ERRORS, errors.NO_PHONE_DEVICE),
        limited=True,
    ),
    Operation(
        method="POST",
        path="/v1/reminders",
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
        caller=SENDER,
        body=json_body(ReminderRequest),
        successes=(done(201, "It is kept durably until it is due.", ReminderResponse),),
        errors=(errors.SCOPE_DENIED, errors.TOO_MANY_REMINDERS),
        limited=True,
    ),
    Operation(
        method="GET",
        path="/v1/reminders",
        id="listReminders",
        tag=TAG,
        summary="List the token's waiting reminders",
        description="Those of other tokens are not listed.",
        curl=curl('"$REFLECTO_URL/v1/reminders"', AS_SENDER),
        caller=SENDER,
        successes=(done(200, "The reminders that wait.", ReminderList),),
    ),
    Operation(
        method="DELETE",
        path="/v1/reminders/{id}",
        id="deleteReminder",
        tag=TAG,
        summary="Drop a reminder",
        description="One that has come is gone: `not_found`.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/reminders/$REMINDER_ID"', AS_SENDER),
        caller=SENDER,
        parameters=(path_id("rem", "reminder"),),
        successes=(done(204, "It will not come."),),
        errors=(errors.NOT_FOUND,),
    ),
)
