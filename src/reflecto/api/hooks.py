"""The server as a coding agent's hook, with no code of ours where the agent runs. Source: hooks.md."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from starlette.routing import Route

from reflecto.agents.asking import Asked, NotAskedError, decide
from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import TETHER_SECONDS, Prompt, UnusableEventError, parse_event
from reflecto.api.gate import Gate
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.long_bodies import work_on
from reflecto.api.patience import answer_patiently
from reflecto.contract.errors import INVALID_JSON, ApiError
from reflecto.contract.interactions import CreateInteractionRequest, InteractionState
from reflecto.contract.limits import EVENT_MAX_BYTES, EXPIRES_IN_MAX_SECONDS, EXPIRES_IN_MIN_SECONDS
from reflecto.contract.messages import SendRequest
from reflecto.core.clock import Clock
from reflecto.core.interactions import Interactions
from reflecto.core.messages import Messages
from reflecto.core.sender import Sender

TIMEOUT_DEFAULT_SECONDS: Final = 600
REPLY_SECONDS: Final = 5  # kept of the hook's time, for the reply's way back


def hook_routes(gate: Gate, interactions: Interactions, messages: Messages, clock: Clock) -> list[Route]:
    """Return the routes under /hooks."""
    open_calls = _OpenCalls()

    async def claude_code(call: Call) -> Reply | None:
        async with gate.counting_strangers(call):
            sender = await gate.auth.sender(call)
        await _admit(gate, sender)
        skipped = frozenset(filter(None, (call.query("skip") or "").split(",")))
        body = await call.read_body(EVENT_MAX_BYTES)
        try:
            hook = await work_on(body, lambda body: read_call(parse_event(body), skipped))
        except UnusableEventError as error:
            raise ApiError(INVALID_JSON, str(error)) from None

        async def work() -> Reply:
            if hook.notice is not None:
                await messages.send(sender, SendRequest(message=hook.notice.message, title=hook.notice.title))
            until = clock.now() + _timeout_seconds(call) - REPLY_SECONDS
            if hook.ends is not None:
                question_id = open_calls.first_question(sender.token.id, hook.ends)
                if question_id is not None:
                    await _withdraw(interactions, sender, question_id)
                return Reply(200, {})
            with open_calls.claim(sender.token.id, hook.call_id) as place:
                return Reply(
                    200, await decide(hook, place.number, partial(_Question, interactions, sender, clock, until, place))
                )

        return await gate.run(sender, lambda: answer_patiently(call, work(), clock))

    return [Route("/hooks/claude-code", Endpoint(POST=claude_code))]


async def _admit(gate: Gate, sender: Sender) -> None:
    """Refuse whom no event could be passed on for, before the body is read: it may have 4 MB.

    Raises: ApiError `scope_denied`, `rate_limit_exceeded`.
    """
    if "send" not in sender.token.scopes:
        sender.require("ask")
    await gate.quotas.check(sender.token)


@dataclass(slots=True)
class _Question:
    """`asking.PhoneQuestion` in process, for a call of a hook that has until `until` (Unix seconds)."""

    interactions: Interactions
    sender: Sender
    clock: Clock
    until: float
    place: "_Place"
    prompt: Prompt
    id: str | None = None

    async def ask(self, key: str) -> Asked:
        expires_in = min(max(self._seconds_left(), EXPIRES_IN_MIN_SECONDS), EXPIRES_IN_MAX_SECONDS)
        request = CreateInteractionRequest(
            question=self.prompt.question,
            choices=self.prompt.choices,
            expires_in=expires_in,
            idempotency_key=key,
            tether=TETHER_SECONDS,  # this server may be killed while it waits
        )
        asked = await self.interactions.ask(self.sender, request)
        if asked.mismatch:
            raise NotAskedError
        if asked.replayed:
            state = await self.interactions.read(self.sender, asked.interaction_id)
            if state.status != "pending":
                return Asked(asked.interaction_id, is_open=False)
        self.id = self.place.question_id = asked.interaction_id
        return Asked(self.id)

    async def wait(self) -> InteractionState:
        return await self.interactions.wait(self.sender, self._asked_id(), self._seconds_left())

    async def withdraw(self) -> InteractionState:
        return await _withdraw(self.interactions, self.sender, self._asked_id())

    def _asked_id(self) -> str:
        if self.id is None:
            raise NotAskedError
        return self.id

    def _seconds_left(self) -> int:
        return max(0, int(self.until - self.clock.now()))


async def _withdraw(interactions: Interactions, sender: Sender, question_id: str) -> InteractionState:
    """Withdraw the question and return what became of it: a tap may have been faster. Raises: ApiError."""
    try:
        return await interactions.cancel(sender, question_id)
    except ApiError:
        return await interactions.read(sender, question_id)


@dataclass(slots=True)
class _Place:
    """One call of a tool that waits: its number among those that look the same, and what it asks now."""

    number: int
    question_id: str | None = None


class _OpenCalls:
    """The calls of tools that wait here right now. Two that look the same at the same time are two questions."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[_Place]] = {}

    @contextmanager
    def claim(self, token_id: str, call_id: str | None) -> Iterator[_Place]:
        """Give a call its place while the block runs."""
        if call_id is None:
            yield _Place(0)
            return
        key = (token_id, call_id)
        places = self._places.setdefault(key, [])
        taken = {place.number for place in places}
        place = _Place(next(number for number in count() if number not in taken))
        places.append(place)
        try:
            yield place
        finally:
            places.remove(place)
            if not places:
                del self._places[key]

    def first_question(self, token_id: str, call_id: str) -> str | None:
        """Return what the longest waiting of the calls with this id asks."""
        for place in self._places.get((token_id, call_id), ()):
            if place.question_id is not None:
                return place.question_id
        return None


def _timeout_seconds(call: Call) -> int:
    """Return what the hook's own timeout is set to, as its URL tells."""
    given = call.query("timeout") or ""
    is_number = given.isascii() and given.isdigit() and len(given) <= len(str(EXPIRES_IN_MAX_SECONDS))
    return int(given) if is_number else TIMEOUT_DEFAULT_SECONDS
