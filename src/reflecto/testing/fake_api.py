"""What the fake server replies. No I/O: the asker's calls on questions and sent things kept in memory."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from reflecto import __version__
from reflecto.contract import errors, messages
from reflecto.contract.api_error import ApiError
from reflecto.contract.ids import new_id
from reflecto.contract.interactions import CreateInteractionRequest, SimulateRequest
from reflecto.contract.question_states import CreateInteractionResponse, InteractionState
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER, decode_request
from reflecto.crypto.answers import question_digest

PHONE: Final = messages.DeliveredTo(f"dev_{0:032x}", "cli")
_QUESTION: Final = re.compile(r"/v1/interactions/(?P<id>int_[0-9a-f]{32})(?P<simulate>/simulate)?(\?(?P<query>.*))?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it arrived; a repeat with its idempotency key is not counted again.

    `given`: what it brought of details, source, danger, confirm and comment, as JSON has it.
    """

    id: str
    question: str
    choices: tuple[str, ...]
    expires_in: int
    idempotency_key: str | None
    given: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SentOut:
    """What was sent: `kind` is "message", "document", "ring" or "reminder", `fields` its JSON body."""

    kind: str
    fields: dict[str, Any]


Taps = str | Callable[[Asked], str | None] | None


class Reply(NamedTuple):
    """Status, the body's model, and headers."""

    status: int
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012  a tuple's default, never changed


class FakeApi:
    """The questions and messages of one test."""

    def __init__(self, token: str) -> None:
        self.taps: Taps = None
        self.asked: list[Asked] = []
        self.sent: list[SentOut] = []
        self._authorization = f"Bearer {token}"
        self._states: dict[str, InteractionState] = {}
        self._by_key: dict[str, str] = {}
        self._replies_to_questions: dict[str, CreateInteractionResponse] = {}
        self._replies: dict[str, tuple[str, bytes, Reply]] = {}
        self._reminders: dict[str, messages.ReminderState] = {}

    def reply_to(
        self, method: str, target: str, authorization: str | None, body: bytes, key: str | None = None
    ) -> Reply:
        """Handle one request; whatever is refused has the real server's code."""
        try:
            if target == "/healthz":
                return Reply(200, {"status": "ok", "version": __version__, "repeats": IDEMPOTENCY_KEY_HEADER})
            if authorization != self._authorization:
                return Reply(401, {"error": "invalid_token"})
            return self._once(key, method, target, body)
        except ApiError as error:
            described = {"code": error.spec.code, "message": error.message, "details": error.details or {}}
            return Reply(error.spec.status, {"error": described})

    def _once(self, key: str | None, method: str, target: str, body: bytes) -> Reply:
        """Reply to a repeat under its Idempotency-Key with the first reply."""
        if key is None or method != "POST" or target.startswith("/v1/interactions"):
            return self._route(method, target, body)
        first = self._replies.get(key)
        if first is None:
            reply = self._route(method, target, body)
            self._replies[key] = (target, body, reply)
            return reply
        if first[:2] != (target, body):
            raise ApiError(errors.IDEMPOTENCY_KEY_REUSED)
        return first[2]._replace(headers={"Idempotent-Replayed": "true"})

    def _route(self, method: str, target: str, body: bytes) -> Reply:
        if found := _QUESTION.fullmatch(target):
            return self._on_question(method, found["id"], found["simulate"], found["query"] or "", body)
        if method == "POST":
            return self._take(target, body)
        if (method, target) == ("GET", "/v1/reminders"):
            waiting = sorted(self._reminders.values(), key=lambda each: each.fire_at)
            return Reply(200, messages.ReminderList(tuple(waiting)))
        if (method, target) == ("GET", "/v1/devices"):
            return Reply(200, {"devices": [_phone()]})
        reminder_id = target.removeprefix("/v1/reminders/")
        if method == "DELETE" and reminder_id in self._reminders:
            del self._reminders[reminder_id]
            return Reply(204)
        raise ApiError(errors.NOT_FOUND)

    def _take(self, target: str, body: bytes) -> Reply:
        match target:
            case "/v1/interactions":
                return self._ask(decode_request(CreateInteractionRequest, body))
            case "/v1/send":
                decode_request(messages.SendRequest, body)
                return Reply(200, messages.SendResponse(self._keep("message", body, "msg"), (PHONE,), ()))
            case "/v1/ring":
                decode_request(messages.RingRequest, body)
                return Reply(200, messages.SendResponse(self._keep("ring", body, "msg"), (PHONE,), ()))
            case "/v1/documents":
                size = len(decode_request(messages.DocumentRequest, body).content.encode())
                return Reply(201, messages.DocumentResponse(self._keep("document", body, "doc"), size, (PHONE,), ()))
            case "/v1/reminders":
                return self._remind(decode_request(messages.ReminderRequest, body), body)
        raise ApiError(errors.NOT_FOUND)

    def _ask(self, request: CreateInteractionRequest) -> Reply:
        key = request.idempotency_key if isinstance(request.idempotency_key, str) else None
        known = self._states.get(self._by_key.get(key or "", ""))
        if known is not None:
            same = (known.question, known.choices, known.digest) == (
                request.question,
                request.choices,
                _digest(request),
            )
            headers = {"Idempotent-Replayed": "true"} | ({} if same else {"Idempotency-Mismatch": "true"})
            return Reply(200, self._replies_to_questions[known.id], headers)
        now = int(time.time())
        given = msgspec.json.decode(msgspec.json.encode(request.given()))
        asked = Asked(new_id("int"), request.question, request.choices, request.expires_in, key, given)
        number = "07" if request.confirm == "number" else msgspec.UNSET
        reply = CreateInteractionResponse(asked.id, now + asked.expires_in, number)
        self._replies_to_questions[asked.id] = reply
        self._states[asked.id] = InteractionState(
            id=asked.id,
            status="pending",
            question=asked.question,
            choices=asked.choices,
            choice=None,
            choice_index=None,
            created_at=now,
            expires_at=now + asked.expires_in,
            answered_at=None,
            answered_by=None,
            digest=_digest(request),
        )
        if key is not None:
            self._by_key[key] = asked.id
        self.asked.append(asked)
        tapped = self.taps(asked) if callable(self.taps) else self.taps
        if tapped is not None:
            self._answer(asked.id, tapped)
        return Reply(201, reply)

    def _on_question(self, method: str, question_id: str, simulate: str | None, query: str, body: bytes) -> Reply:
        state = self._states.get(question_id)
        if state is None:
            raise ApiError(errors.NOT_FOUND)
        if simulate:
            self._answer(question_id, decode_request(SimulateRequest, body).choice)
        elif method == "DELETE":
            if state.status != "cancelled":
                self._end(state, status="cancelled")
        elif query.startswith("wait=") and state.status == "pending":  # nobody is going to tap
            self._end(state, status="expired")
        return Reply(200, self._states[question_id])

    def _answer(self, question_id: str, choice: str) -> None:
        state = self._states[question_id]
        if choice not in state.choices:
            raise ApiError(errors.INVALID_CHOICE)
        index = state.choices.index(choice)
        if state.choice == choice:
            return  # the same tap again
        simulated = msgspec.UNSET if state.digest is msgspec.UNSET else True
        at = int(time.time())
        self._end(state, status="answered", choice=choice, choice_index=index, answered_at=at, simulated=simulated)

    def _end(self, state: InteractionState, **fields: Any) -> None:
        if state.status == "answered":
            raise ApiError(errors.ALREADY_ANSWERED, details={"choice_index": state.choice_index})
        if state.status != "pending":
            raise ApiError(errors.INTERACTION_CLOSED, details={"status": state.status})
        self._states[state.id] = msgspec.structs.replace(state, **fields)

    def _remind(self, request: messages.ReminderRequest, body: bytes) -> Reply:
        try:
            at = datetime.fromisoformat(request.at).timestamp() if isinstance(request.at, str) else request.at
        except ValueError:
            raise ApiError(errors.INVALID_AT) from None
        made = self._keep("reminder", body, "rem")
        kept = messages.ReminderState(made, request.message, request.title, int(at), int(time.time()))
        self._reminders[made] = kept
        return Reply(201, messages.ReminderResponse(made, kept.fire_at, ()))

    def _keep(self, kind: str, body: bytes, prefix: Any) -> str:
        self.sent.append(SentOut(kind, msgspec.json.decode(body)))
        return new_id(prefix)


def _digest(request: CreateInteractionRequest) -> str | msgspec.UnsetType:
    given = request.given()
    return question_digest(request.question, request.choices, **given) if given else msgspec.UNSET


def _phone() -> dict[str, object]:
    return {
        "device_id": PHONE.device_id,
        "label": "Fake phone",
        "type": "cli",
        "class": "phone",
        "reachable": True,
        "last_seen_at": int(time.time()),
        "app_build": None,
    }
