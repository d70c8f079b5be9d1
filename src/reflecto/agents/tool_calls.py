"""What each tool of the MCP server does when an agent calls it, the same for both transports."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, cast

import msgspec

from reflecto.agents import tool_models as models
from reflecto.agents.asked_here import AskedHere
from reflecto.agents.asking import PLAIN_ONLY_CODES, Asked, PlainOnlyError, ask_and_wait, ask_until_ended
from reflecto.agents.claude_code import AGENT, TURN
from reflecto.agents.hook_call import TETHER_SECONDS, Prompt
from reflecto.agents.kept_questions import Content, KeptQuestion, QuestionKeeper
from reflecto.agents.permission import denial, permission_call
from reflecto.agents.tool_wait import (
    HOLD_SECONDS,
    Report,
    ToolWait,
    WaitClock,
    answered_result,
    closed_result,
    pending_result,
)
from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import (
    AlreadyAnswered,
    ApiError,
    BrokenContract,
    QuestionCancelled,
    QuestionExpired,
    ReflectoError,
    Unreachable,
)
from reflecto.client.given import Given
from reflecto.client.results import Caveat, Delivery, Question

PERMISSION_SECONDS: Final = 600  # Claude Code waits for its permission tool as long as that takes
REPLY_SECONDS: Final = 2.0  # a server that is gone must not hold the agent up; what it stored ends by its tether
UNANSWERED: Final = "Nobody allowed this on the phone, and silence is not consent. Ask what to do instead."


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: `name` tells callers apart, `client` has their token."""

    name: str
    client: AsyncReflecto
    folder: str = ""  # where the agent works, as far as known
    asked: AskedHere = field(default_factory=AskedHere)  # questions whose answers can be checked against what was asked


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: who makes it, and what the tool works with."""

    caller: Caller
    report: Report
    clock: WaitClock
    kept_questions: QuestionKeeper

    def wait(self, seconds: float | None = None) -> ToolWait:
        """Return a wait that begins now and is over after `seconds`, by default when agents' clients give up."""
        now = self.clock.now()
        return ToolWait(self.clock, self.report, now, now + (HOLD_SECONDS if seconds is None else seconds))


@dataclass(frozen=True, slots=True)
class _ToolQuestion:
    """`asking.PhoneQuestion` over the asynchronous client, for one call of a tool."""

    call: ToolCall
    kept: KeptQuestion
    tool_wait: ToolWait
    reply_seconds: float | None = None  # None: the server may take as long as the call

    async def ask(self, key: str) -> Asked:
        if self.reply_seconds is None:
            question = await self.kept.ask(key, self.tool_wait.seconds_left)
        else:
            question = await self._ask_within(key, self.reply_seconds)
            await self._look_whether_details_arrived(question)
        self.call.caller.asked.keep(question)
        return Asked(question.id)

    async def wait(self) -> models.QuestionResult:
        asked = self.kept.asked()
        if asked.confirm_number is not None:  # it has to be shown before it can be typed
            return pending_result(asked, None)
        return await self.tool_wait.for_answer(self.call.caller.client, asked, is_new=True)

    async def withdraw(self) -> models.QuestionResult:
        return await cancel_question(self.call, models.CancelQuestion(id=self.kept.asked().id))

    async def _look_whether_details_arrived(self, question: Question) -> None:
        """Withdraw a question that an older server has stored without its details. Raises: PlainOnlyError."""
        if not self.kept.content.given:
            return
        try:
            await self.call.caller.client.get(question)
        except BrokenContract as error:
            with suppress(ReflectoError):
                await self.call.caller.client.cancel(question)
            raise PlainOnlyError from error

    async def _ask_within(self, key: str, seconds: float) -> Question:
        """Ask, or raise Unreachable once the agent was held up long enough: sockets' time-outs do not bound a call."""
        asking = asyncio.create_task(self.kept.ask(key, seconds))
        late = asyncio.ensure_future(self.call.clock.pause(seconds))
        try:
            await asyncio.wait((asking, late), return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise Unreachable(f"no reply from the server within {seconds:g} seconds")
            return asking.result()
        finally:
            asking.cancel()
            late.cancel()
            await asyncio.gather(asking, late, return_exceptions=True)


async def ask_user(call: ToolCall, arguments: models.AskUser) -> models.QuestionResult:
    """Ask, and wait for the tap. A call that repeats one whose result was lost finds its question."""
    wait = call.wait()
    content = Content(
        call.caller.name,
        arguments.question,
        arguments.choices,
        arguments.expires_in,
        arguments.tether,
        given=arguments.given(),
    )
    async with call.kept_questions.asking(content, call.caller.client, HOLD_SECONDS) as kept:
        return await ask_and_wait(_ToolQuestion(call, kept, wait), kept.key)


async def approve_tool_use(call: ToolCall, arguments: models.ApproveToolUse) -> models.PermissionDecision:
    """Ask whether the tool may run. Anything but a tap on the first choice denies it, and says why."""
    event = {
        "hook_event_name": "PermissionRequest",
        "tool_name": arguments.tool_name,
        "tool_input": arguments.input,
        "cwd": call.caller.folder,
    }
    prompt = permission_call(AGENT, event, TURN).prompts[0]
    try:
        result = await _ask_permission(call, prompt, arguments.tool_use_id)
    except ReflectoError as error:
        return models.PermissionDecision(
            behavior="deny", message=f"Nobody could be asked ({error}), so it is not allowed."
        )
    if result.status != "answered":
        return models.PermissionDecision(behavior="deny", message=f"{UNANSWERED} ({result.status})")
    if result.choice_index != 0:
        return models.PermissionDecision(behavior="deny", message=denial(result.comment))
    return models.PermissionDecision(behavior="allow", updatedInput=arguments.input)


async def _ask_permission(call: ToolCall, prompt: Prompt, tool_use_id: str | None) -> models.QuestionResult:
    """Ask with details, or without them where nobody knows these. Raises: ReflectoError."""
    content = Content(
        call.caller.name,
        prompt.question,
        prompt.choices,
        PERMISSION_SECONDS,
        TETHER_SECONDS,
        tool_use_id,
        cast("Given", prompt.given),
    )
    wait = call.wait(PERMISSION_SECONDS)
    try:
        async with call.kept_questions.asking(content, call.caller.client, PERMISSION_SECONDS) as kept:
            return await ask_until_ended(_ToolQuestion(call, kept, wait, REPLY_SECONDS), kept.key)
    except (ApiError, PlainOnlyError) as error:
        if prompt.plain is None or (isinstance(error, ApiError) and error.code not in PLAIN_ONLY_CODES):
            raise
        return await _ask_permission(call, prompt.plain, tool_use_id)


async def wait_for_answer(call: ToolCall, arguments: models.WaitForAnswer) -> models.QuestionResult:
    """Wait for the tap on a question that was asked before."""
    return await call.wait().for_answer(call.caller.client, call.caller.asked.find(arguments.id), is_new=False)


async def cancel_question(call: ToolCall, arguments: models.CancelQuestion) -> models.QuestionResult:
    """Withdraw the question, or return how it had already ended."""
    client = call.caller.client
    try:
        await client.cancel(arguments.id)
    except QuestionExpired as expired:
        return closed_result(expired)
    except AlreadyAnswered:
        answer = (await client.get(call.caller.asked.find(arguments.id))).answer
        if answer is None:
            raise
        return answered_result(answer)
    return closed_result(QuestionCancelled("", question_id=arguments.id))


async def send_notification(call: ToolCall, arguments: models.SendNotification) -> models.SentResult:
    """Send a notification."""
    sent = await call.caller.client.send(**msgspec.structs.asdict(arguments))
    return models.SentResult(id=sent.id, delivered_to=_delivered(sent.delivered_to), warnings=_warned(sent.warnings))


async def remind_me(call: ToolCall, arguments: models.RemindMe) -> models.ReminderResult:
    """Set a reminder."""
    reminder = await call.caller.client.remind(**msgspec.structs.asdict(arguments))
    return models.ReminderResult(id=reminder.id, fire_at=reminder.fire_at, warnings=_warned(reminder.warnings))


async def cancel_reminder(call: ToolCall, arguments: models.CancelReminder) -> models.ReminderCancelled:
    """Cancel a reminder that has not fired yet."""
    await call.caller.client.cancel_reminder(arguments.id)
    return models.ReminderCancelled(id=arguments.id)


async def send_file(call: ToolCall, arguments: models.SendFile) -> models.FileResult:
    """Send a text file."""
    sent = await call.caller.client.send_file(**msgspec.structs.asdict(arguments))
    return models.FileResult(
        id=sent.id,
        byte_length=sent.byte_length,
        delivered_to=_delivered(sent.delivered_to),
        warnings=_warned(sent.warnings),
    )


async def ring_phone(call: ToolCall, arguments: models.RingPhone) -> models.SentResult:
    """Let the phones sound until they are found."""
    sent = await call.caller.client.ring(arguments.duration, arguments.message)
    return models.SentResult(id=sent.id, delivered_to=_delivered(sent.delivered_to), warnings=_warned(sent.warnings))


async def list_devices(call: ToolCall, _arguments: models.ListDevices) -> models.DeviceListResult:
    """List the person's devices."""
    devices = [
        models.Device(
            device_id=each.device_id,
            label=each.label,
            type=each.type,
            device_class=each.device_class,
            reachable=each.reachable,
            last_seen_at=each.last_seen_at,
        )
        for each in await call.caller.client.devices()
    ]
    return models.DeviceListResult(devices=tuple(devices))


def _delivered(deliveries: Sequence[Delivery]) -> tuple[models.DeliveredTo, ...]:
    return tuple(models.DeliveredTo(each.device_id, each.type) for each in deliveries)


def _warned(warnings: Sequence[Caveat]) -> tuple[models.Warned, ...]:
    return tuple(models.Warned(each.code, each.message) for each in warnings)
