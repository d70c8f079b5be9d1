"""Replies read into results or errors: whatever the contract does not allow raises. No I/O. Source: ask.md."""

import urllib.parse
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from reflecto.client import errors
from reflecto.client.protocol import HttpReply
from reflecto.client.results import Answer, Device, QuestionState, Receipt
from reflecto.contract.ids import TOKEN_PATTERN, is_id
from reflecto.contract.interactions import CreateInteractionResponse, InteractionState
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.refusals import read_refusal

M = TypeVar("M", bound=msgspec.Struct)

_STATUS_ERRORS: Final[Mapping[int, type[errors.ApiError]]] = {
    400: errors.InvalidRequest,
    401: errors.AuthenticationError,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.InvalidRequest,
    422: errors.KeyReused,
    426: errors.Conflict,
    429: errors.TooManyRequests,
}
_FLAT_MESSAGES: Final = {"invalid_token": "the token is malformed, unknown or revoked"}


def read_created(reply: HttpReply) -> tuple[CreateInteractionResponse, bool]:
    """Return what was stored and whether it had been before. Raises: ApiError, IdempotencyMismatch, BrokenContract."""
    if reply.status not in (200, 201):
        raise_refusal(reply)
    if "idempotency-mismatch" in reply.headers:
        raise errors.IdempotencyMismatch("the idempotency key was used for another question; choose another key")
    created = decode(reply, CreateInteractionResponse)
    if not is_id(created.id, "int"):
        raise errors.BrokenContract("the reply names no question")
    return created, reply.status == 200 or "idempotent-replayed" in reply.headers


def read_state(reply: HttpReply, question_id: str) -> QuestionState:
    """Return a question's state, its answer and receipt checked. Raises: ApiError, BrokenContract, InvalidReceipt."""
    if reply.status != 200:
        raise_refusal(reply)
    state = decode(reply, InteractionState)
    if state.id != question_id:
        raise errors.BrokenContract("the reply is about another question")
    answer = _answer_of(state) if state.status == "answered" else None
    if answer is None and (state.choice, state.choice_index) != (None, None):
        raise errors.BrokenContract(f"a choice came with the status {state.status}")
    return QuestionState(
        state.id,
        state.status,
        state.question,
        state.choices,
        state.created_at,
        state.expires_at,
        answer,
        None if state.reason is msgspec.UNSET else state.reason,
    )


def _answer_of(state: InteractionState) -> Answer:
    index, answered_at = state.choice_index, state.answered_at
    if index is None or answered_at is None or not 0 <= index < len(state.choices):
        raise errors.BrokenContract("the answer names none of the choices")
    if state.choice != state.choices[index]:
        raise errors.BrokenContract("the answer's label and index name different choices")
    device = Device(state.answered_by.device_id, state.answered_by.label) if state.answered_by else None
    receipt = _receipt_of(state, index)
    if receipt and device and receipt.device_id != device.device_id:
        raise errors.InvalidReceipt("the receipt is from another device than the answer")
    return Answer(state.id, state.choices[index], index, device, answered_at, receipt)


def _receipt_of(state: InteractionState, index: int) -> Receipt | None:
    wire = state.receipt
    if wire is None:
        return None
    if wire.choice_index != index:
        raise errors.InvalidReceipt("the receipt is for another choice than the answer")
    receipt = Receipt(
        wire.device_id,
        wire.signing_key,
        state.id,
        state.question,
        state.choices,
        wire.choice_index,
        wire.answered_at,
        wire.signature,
    )
    receipt.verify()
    return receipt


def decode(reply: HttpReply, model: type[M]) -> M:
    """Return the body as `model`. Raises: BrokenContract."""
    try:
        return read_json(reply.body, model)
    except UnreadableJsonError:
        message = f"the reply with status {reply.status} is not what the contract says"
    try:
        read_json(reply.body, dict[str, Any])
    except UnreadableJsonError:  # a page
        raise errors.ForeignReply(message) from None
    raise errors.BrokenContract(message)


def raise_refusal(reply: HttpReply) -> NoReturn:
    """Raise what a reply with none of the expected statuses means. Raises: ApiError, BrokenContract."""
    if reply.status < 400:
        raise errors.ForeignReply(f"the server replied with status {reply.status}{_target_of(reply)}")
    refusal = read_refusal(reply.status, reply.body)
    if refusal is None:  # a proxy, or no Reflecto at all: an outage, whatever its status
        message = f"status {reply.status}, and not from Reflecto: is the URL right?"
        raise errors.ServerError(
            message, code=f"http_{reply.status}", status=reply.status, retry_after=reply.seconds_of("retry-after")
        )
    kind = _STATUS_ERRORS.get(reply.status, errors.ServerError if reply.status >= 500 else errors.ApiError)
    if refusal.code == "already_answered":
        kind = errors.AlreadyAnswered
    raise kind(
        TOKEN_PATTERN.sub("[token]", refusal.message or _FLAT_MESSAGES.get(refusal.code, refusal.code)),
        code=refusal.code,
        status=reply.status,
        retry_after=reply.seconds_of("retry-after"),
        details=refusal.details,
    )


def _target_of(reply: HttpReply) -> str:
    """Name where a redirect points, which is not followed: the token is for one server only."""
    try:
        parts = urllib.parse.urlsplit(reply.headers.get("location", ""))
        origin = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return ""
    return f", a redirect to {origin}; if that is your server, make it the URL" if parts.hostname else ""
