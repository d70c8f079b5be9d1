"""Documents: text files for the phone's downloads. Source: api.md "POST /v1/documents"."""

from reflecto.contract.api_error import ApiError
from reflecto.contract.envelopes import DocumentPayload
from reflecto.contract.errors import INVALID_CONTENT, INVALID_FILENAME, INVALID_TITLE, PAYLOAD_TOO_LARGE
from reflecto.contract.filenames import is_safe_filename
from reflecto.contract.ids import new_id
from reflecto.contract.limits import DOCUMENT_MAX_BYTES, TITLE_MAX_BYTES
from reflecto.contract.messages import DocumentRequest, DocumentResponse
from reflecto.core.checks import check_bytes
from reflecto.core.clock import Clock
from reflecto.core.delivery import Dispatcher
from reflecto.core.quotas import Quotas
from reflecto.core.repeats import Keeping
from reflecto.core.sealing import make_envelope, queue_expiry, source_of
from reflecto.core.sender import Sender
from reflecto.core.targets import check_selector


def check_document(request: DocumentRequest) -> int:
    """Check it field by field and return its content's length in bytes of UTF-8. Raises: ApiError, not for size."""
    if not is_safe_filename(request.filename):
        raise ApiError(INVALID_FILENAME)
    if not request.content:
        raise ApiError(INVALID_CONTENT)
    if request.title is not None:
        check_bytes(request.title, TITLE_MAX_BYTES, INVALID_TITLE)
    check_selector(request.device)
    return len(request.content.encode())


class Documents:
    """Text files for the devices' downloads."""

    def __init__(self, dispatcher: Dispatcher, quotas: Quotas, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._quotas = quotas
        self._clock = clock

    async def send(
        self, sender: Sender, request: DocumentRequest, keeping: Keeping[DocumentResponse] | None = None
    ) -> DocumentResponse:
        """Queue the document for the devices meant.

        Raises: ApiError for a field out of bounds, `scope_denied`, `payload_too_large`, `rate_limit_exceeded`,
        `queue_full`.
        """
        byte_length = check_document(request)
        sender.require("files")
        if byte_length > DOCUMENT_MAX_BYTES:
            raise ApiError(PAYLOAD_TOO_LARGE, details={"size": byte_length, "max": DOCUMENT_MAX_BYTES})
        now = self._clock.now()
        payload = DocumentPayload(request.filename, request.content, request.title)
        envelope = make_envelope("document", new_id("doc"), now, payload, **source_of(sender.token))
        async with self._quotas.spend_burst(sender.token), self._quotas.spend_delivery(sender.token):
            meant, caveats = await self._dispatcher.devices_meant(sender, request.device)
            return await self._dispatcher.dispatch(
                sender,
                meant,
                envelope,
                queue_expiry(now),
                lambda delivered_to, full: DocumentResponse(envelope.id, byte_length, delivered_to, (*caveats, *full)),
                keeping,
            )
