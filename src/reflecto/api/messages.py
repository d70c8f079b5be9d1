"""Routes of what is sent to devices. Source: api.md "POST /v1/send", documents, ring, reminders."""

import msgspec
from starlette.routing import Route

from reflecto.api.bodies import message_of, read_fields
from reflecto.api.foreign import in_our_words
from reflecto.api.gate import Gate
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.limits import DOCUMENT_BODY_MAX_BYTES
from reflecto.contract.messages import DocumentRequest, ReminderRequest, RingRequest, SendRequest
from reflecto.core.documents import Documents
from reflecto.core.messages import Messages
from reflecto.core.reminders import Reminders
from reflecto.core.rings import Rings
from reflecto.core.sender import Sender


def message_routes(
    gate: Gate, messages: Messages, documents: Documents, rings: Rings, reminders: Reminders
) -> list[Route]:
    """Return the routes of sending."""

    async def send(call: Call, sender: Sender) -> Reply:
        fields, typed = await read_fields(call, SendRequest)
        fields, caveats = in_our_words(fields, call.media_type, call.scope["headers"], typed=typed)
        sent = await messages.send(sender, message_of(SendRequest, fields, typed=typed))
        return Reply(200, msgspec.structs.replace(sent, warnings=(*caveats, *sent.warnings)))

    async def send_document(call: Call, sender: Sender) -> Reply:
        return Reply(201, await documents.send(sender, await call.json(DocumentRequest, DOCUMENT_BODY_MAX_BYTES)))

    async def ring(call: Call, sender: Sender) -> Reply:
        return Reply(200, await rings.ring(sender, await call.json(RingRequest)))

    async def set_reminder(call: Call, sender: Sender) -> Reply:
        return Reply(201, await reminders.set(sender, await call.json(ReminderRequest)))

    async def list_reminders(call: Call) -> Reply:
        return Reply(200, await reminders.list_for(await gate.auth.sender(call)))

    async def drop_reminder(call: Call) -> Reply:
        await reminders.drop(await gate.auth.sender(call), call.path_params["id"])
        return Reply(204)

    return [
        Route("/v1/send", Endpoint(POST=gate.limited(send))),
        Route("/v1/send/{token}", Endpoint(POST=gate.limited(send))),
        Route("/v1/documents", Endpoint(POST=gate.limited(send_document))),
        Route("/v1/ring", Endpoint(POST=gate.limited(ring))),
        Route("/v1/reminders", Endpoint(POST=gate.limited(set_reminder), GET=list_reminders)),
        Route("/v1/reminders/{id}", Endpoint(DELETE=drop_reminder)),
    ]
