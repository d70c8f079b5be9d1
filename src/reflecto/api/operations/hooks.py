"""The server as a coding agent's hook, with no code of ours where the agent runs. Source: hooks.md."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from reflecto.agents.asking import PLAIN_ONLY_CODES, Asked, Ended, NotAskedError, PlainOnlyError, decide
from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import TETHER_SECONDS, HookCall, HookOptions, Prompt, UnusableEventError, parse_event
from reflecto.api.callers import SENDER
from reflecto.api.http import Call, Reply
from reflecto.api.long_bodies import work_on
from reflecto.api.long_polls import answer_keeping_alive
from reflecto.api.open_calls import Place
from reflecto.api.operations.operation import Admitted, Operation
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_JSON
from reflecto.contract.interactions import CreateInteractionRequest
from reflecto.contract.limits import EVENT_MAX_BYTES, EXPIRES_IN_MAX_SECONDS, EXPIRES_IN_MIN_SECONDS
from reflecto.contract.messages import SendRequest
from reflecto.contract.question_states import InteractionState
from reflecto.contract.wire import build_request
from reflecto.core.clock import Clock
from reflecto.core.interactions import Interactions
from reflecto.core.sender import Sender

TIMEOUT_DEFAULT_SECONDS: Final = 600
REPLY_SECONDS: Final = 5  # kept of the hook's time, for the reply's way back


async def claude_code(call: Admitted[Sender, None]) -> Reply | None:
    """Ask what the event asks, pass on what it tells, and reply with the decision."""
    await _admit(call)
    options = _options(call)
    body = await call.read_body(EVENT_MAX_BYTES)
    try:
        hook = await work_on(body, lambda body: read_call(parse_event(body), options))
    except UnusableEventError as error:
        raise ApiError(INVALID_JSON, str(error)) from None
    return await answer_keeping_alive(call, _decide(call, hook), call.use_cases.clock)


async def _decide(call: Admitted[Sender, None], hook: HookCall) -> Reply:
    """Return the decision. Raises: ApiError of what could not be sent or asked."""
    use_cases, sender = call.use_cases, call.caller
    if hook.notice is not None:
        await use_cases.messages.send(sender, SendRequest(message=hook.notice.message, title=hook.notice.title))
    until = use_cases.clock.now() + _timeout_seconds(call) - REPLY_SECONDS
    if hook.ends is not None:
        question_id = await use_cases.open_calls.first_question(sender, hook.ends)
        if question_id is not None:
            await _withdraw(use_cases.interactions, sender, question_id)
        return Reply(200, {})
    async with use_cases.open_calls.claim(sender, hook.call_id) as place:
        ask = partial(_Question, use_cases.interactions, sender, use_cases.clock, until, place)
        return Reply(200, await decide(hook, place.number, ask))


async def _admit(call: Admitted[Sender, None]) -> None:
    """Refuse whom no event could be passed on for, before the body is read: it may have 4 MB.

    Raises: ApiError `scope_denied`, `rate_limit_exceeded`.
    """
    if "send" not in call.caller.token.scopes:
        call.caller.require("ask")
    await call.use_cases.quotas.check(call.caller.token)


class _Question(msgspec.Struct):
    """`asking.PhoneQuestion` in process, for a call of a hook that has until `until` (Unix seconds)."""

    interactions: Interactions
    sender: Sender
    clock: Clock
    until: float
    place: Place
    prompt: Prompt
    id: str | None = None

    async def ask(self, key: str) -> Asked:
        expires_in = min(max(self._seconds_left(), EXPIRES_IN_MIN_SECONDS), EXPIRES_IN_MAX_SECONDS)
        fields = {
            "question": self.prompt.question,
            "choices": self.prompt.choices,
            "expires_in": expires_in,
            "idempotency_key": key,
            "tether": TETHER_SECONDS,  # this server may be killed while it waits
        }
        request = build_request(CreateInteractionRequest, fields | dict(self.prompt.given))
        try:
            asked = await self.interactions.ask(self.sender, request)
        except ApiError as error:
            if self.prompt.given and error.spec.code in PLAIN_ONLY_CODES:
                raise PlainOnlyError from error
            raise
        if asked.mismatch:
            raise NotAskedError
        if asked.replayed:
            state = await self.interactions.read(self.sender, asked.interaction_id)
            if state.status != "pending":
                return Asked(asked.interaction_id, is_open=False)
        self.id = asked.interaction_id
        await self.place.put_question(self.id)
        return Asked(self.id)

    async def wait(self) -> Ended:
        return _ended(await self.interactions.wait(self.sender, self._asked_id(), self._seconds_left()))

    async def withdraw(self) -> Ended:
        return _ended(await _withdraw(self.interactions, self.sender, self._asked_id()))

    def _asked_id(self) -> str:
        if self.id is None:
            raise NotAskedError
        return self.id

    def _seconds_left(self) -> int:
        return max(0, int(self.until - self.clock.now()))


def _ended(state: InteractionState) -> Ended:
    comment = None if state.comment is msgspec.UNSET else state.comment.text
    return Ended(state.status, state.choice_index, comment)


async def _withdraw(interactions: Interactions, sender: Sender, question_id: str) -> InteractionState:
    """Withdraw the question and return what became of it: a tap may have been faster. Raises: ApiError."""
    try:
        return await interactions.cancel(sender, question_id)
    except ApiError:
        return await interactions.read(sender, question_id)


def _options(call: Call) -> HookOptions:
    """Return what the hook's URL says that its person chose; what it says otherwise counts as nothing.

    `confirm=number` is not among it: nothing of this server's could show a number where the agent runs.
    """
    danger, confirm = call.query("danger"), call.query("confirm")
    return HookOptions(
        skipped=frozenset(filter(None, (call.query("skip") or "").split(","))),
        danger="never" if danger == "never" else "always" if danger == "always" else "rules",
        confirm="hold" if confirm == "hold" else "tap",
    )


def _timeout_seconds(call: Call) -> int:
    """Return what the hook's own timeout is set to, as its URL tells."""
    given = call.query("timeout") or ""
    is_number = given.isascii() and given.isdigit() and len(given) <= len(str(EXPIRES_IN_MAX_SECONDS))
    return int(given) if is_number else TIMEOUT_DEFAULT_SECONDS


HOOKS: Final = (
    Operation(
        method="POST",
        path="/hooks/claude-code",
        caller=SENDER,
        handler=claude_code,
        limited=True,
        id="claudeCodeHook",
    ),
)
