"""What a phone makes of the envelopes that ask nothing: messages, documents, rings, reminders. Pure."""

from typing import Final, TypeVar

import msgspec

from reflecto.contract.envelopes import DocumentPayload, Envelope, NotificationPayload, ReminderPayload, RingPayload
from reflecto.contract.limits import DOCUMENT_MAX_BYTES, RING_MAX_SECONDS
from reflecto.phone import effects
from reflecto.phone.lifecycle import Step
from reflecto.phone.state import HeldDocument, PhoneState

DOCUMENTS_HELD_MAX: Final = 16  # that could not be saved; the oldest go first

P = TypeVar("P")


def payload_of(envelope: Envelope, model: type[P]) -> P:
    """Return the payload as `model`. Raises: msgspec.ValidationError."""
    return msgspec.convert(envelope.payload, model)


def source_of(envelope: Envelope) -> str:
    """Return who sent it, as the server calls them: a token's label, or a device's."""
    for key in ("token", "device", "label"):
        name = envelope.source.get(key)
        if isinstance(name, str) and name:
            return name
    return "the server"


def token_id_of(envelope: Envelope) -> str | None:
    """Return which token sent it, where the server says so."""
    token_id = envelope.source.get("token_id")
    return token_id if isinstance(token_id, str) else None


def read_notification(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Show the whole message, unless it has expired."""
    payload = payload_of(envelope, NotificationPayload)
    if payload.delete_at is not None and now >= payload.delete_at:
        return Step(state)
    notified = effects.Notified(
        id=envelope.id,
        source=source_of(envelope),
        message=payload.message,
        title=payload.title,
        priority=payload.priority,
        tags=payload.tags,
        url=payload.url,
        url_title=payload.url_title,
        actions=tuple(effects.Action(label=action.label, url=action.url) for action in payload.actions),
        markdown=payload.markdown,
        html=payload.html,
        monospace=payload.monospace,
        timestamp=payload.timestamp,
        image=payload.image,
    )
    return Step(state, (notified,))


def read_document(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Keep the document until it is saved in the downloads folder."""
    del now
    payload = payload_of(envelope, DocumentPayload)
    if len(payload.content.encode()) > DOCUMENT_MAX_BYTES:
        raise msgspec.ValidationError
    held = HeldDocument(
        id=envelope.id,
        source=source_of(envelope),
        filename=payload.filename,
        content=payload.content,
        title=payload.title,
    )
    kept = (*state.documents, held)
    lost = tuple(unsaved(document, "too many others wait", kept=False) for document in kept[:-DOCUMENTS_HELD_MAX])
    return Step(msgspec.structs.replace(state, documents=kept[-DOCUMENTS_HELD_MAX:]), lost)


def document_saved(state: PhoneState, held: HeldDocument, path: str) -> Step:
    """Forget a document that was saved, and tell where it is."""
    saved = effects.DocumentSaved(
        id=held.id,
        source=held.source,
        filename=held.filename,
        path=path,
        byte_length=len(held.content.encode()),
        title=held.title,
    )
    left = tuple(document for document in state.documents if document.id != held.id)
    return Step(msgspec.structs.replace(state, documents=left), (saved,))


def unsaved(held: HeldDocument, reason: str, *, kept: bool) -> effects.DocumentUnsaved:
    """Tell that the document could not be saved."""
    return effects.DocumentUnsaved(id=held.id, source=held.source, filename=held.filename, reason=reason, kept=kept)


def read_ring(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Sound, unless the ring is too late."""
    payload = payload_of(envelope, RingPayload)
    source = source_of(envelope)
    if now >= payload.expires_at:
        return Step(state, (effects.RingMissed(id=envelope.id, source=source),))
    duration = max(0, min(payload.duration, RING_MAX_SECONDS))
    return Step(state, (effects.Rang(id=envelope.id, source=source, duration=duration, message=payload.message),))


def read_reminder(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Show the reminder, however late it comes."""
    del now
    payload = payload_of(envelope, ReminderPayload)
    reminded = effects.Reminded(
        id=envelope.id,
        source=source_of(envelope),
        message=payload.message,
        at=payload.at,
        title=payload.title,
        late=payload.late,
    )
    return Step(state, (reminded,))
