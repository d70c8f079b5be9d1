"""Replies read into results or errors: whatever the contract does not allow raises. No I/O. Source: ask.md."""

import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from reflecto.client import errors
from reflecto.client.believing import NOBODY_NAMED, Trust, check_same_question, read_answer
from reflecto.client.protocol import HttpReply
from reflecto.client.results import Question, QuestionState
from reflecto.contract.ids import TOKEN_PATTERN, is_id
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.question_states import CreateInteractionResponse, InteractionState
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


def read_created(reply: HttpReply, *, wants_number: bool = False) -> tuple[CreateInteractionResponse, bool]:
    """Return what was stored and whether it had been before; `wants_number`: with two digits to show.

    Raises: ApiError, IdempotencyMismatch, BrokenContract.
    """
    if reply.status not in (200, 201):
        raise_refusal(reply)
    if "idempotency-mismatch" in reply.headers:
        raise errors.IdempotencyMismatch("the idempotency key was used for another question; choose another key")
    created = decode(reply, CreateInteractionResponse)
    if not is_id(created.id, "int"):
        raise errors.BrokenContract("the reply names no question")
    if wants_number and not re.fullmatch("[0-9]{2}", created.confirm_number or ""):
        raise errors.BrokenContract("the server gave no number to type: it is too old for that")
    return created, reply.status == 200 or "idempotent-replayed" in reply.headers


def read_state(
    reply: HttpReply, question_id: str, asked: Question | None = None, trust: Trust = NOBODY_NAMED
) -> QuestionState:
    """Return a question's state, its answer and receipt checked against `asked`, where the client still has that.

    Raises: ApiError, BrokenContract, InvalidReceipt, IdempotencyMismatch.
    """
    if reply.status != 200:
        raise_refusal(reply)
    state = decode(reply, InteractionState)
    if state.id != question_id:
        raise errors.BrokenContract("the reply is about another question")
    if asked is not None:
        check_same_question(state, asked)
    answer = read_answer(state, asked, trust) if state.status == "answered" else None
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
