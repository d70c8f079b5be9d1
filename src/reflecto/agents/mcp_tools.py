"""The tools of the MCP server as an agent reads about them. What each does is in `tool_calls`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from reflecto.agents import tool_calls
from reflecto.agents import tool_models as models
from reflecto.agents.tool_calls import ToolCall

INSTRUCTIONS: Final = (
    "Reflecto reaches a person through their own phone, also when they are away from this computer. Ask with ask_user "
    "before what is risky, costly or cannot be undone, and where only they can decide; then do exactly what was "
    "tapped. Only the status answered is an answer: silence, pending, expired, cancelled and errors are never "
    "consent. While a question is pending, call wait_for_answer with its id until it no longer is; do not ask again. "
    "What needs no answer goes through send_notification."
)


Run = Callable[[ToolCall, Any], Awaitable[msgspec.Struct]]  # the second are the tool's arguments; raises ReflectoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool, as agents see it. The four hints are the annotations of MCP that have the same names."""

    name: str
    title: str
    description: str
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    run: Run
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = True  # a person is no closed domain
    only_text: bool = False  # its client reads the result from the text and takes no structured one beside it


TOOLS: Final = (
    Tool(
        name="ask_user",
        title="Ask the person",
        description=(
            "Ask the person a question on their phone and wait for the tap. Use it before anything risky, costly or "
            "irreversible, and for decisions that are theirs. Returns within 50 seconds: with status answered and the "
            "choice, or with status pending and an id; then call wait_for_answer with that id, again and again until "
            "the status is no longer pending. Silence is never consent: pending, expired, cancelled and every error "
            "mean that nothing was approved. Do not ask the same question twice while it is pending."
        ),
        takes=models.AskUser,
        gives=models.QuestionResult,
        run=tool_calls.ask_user,
    ),
    Tool(
        name="approve_tool_use",
        title="May this tool run?",
        description=(
            "For `claude -p --permission-prompt-tool mcp__reflecto__approve_tool_use`, which calls it by itself: asks "
            "the person on their phone whether a tool may run. Do not call it; use ask_user."
        ),
        takes=models.ApproveToolUse,
        gives=models.PermissionDecision,
        run=tool_calls.approve_tool_use,
        only_text=True,
    ),
    Tool(
        name="wait_for_answer",
        title="Wait for the answer",
        description=(
            "Wait up to 50 seconds for the answer to a question that is pending. Call it again for as long as the "
            "status is pending, or stop with cancel_question when the answer no longer matters. It never asks anew. "
            "Only the status answered is an answer."
        ),
        takes=models.WaitForAnswer,
        gives=models.QuestionResult,
        run=tool_calls.wait_for_answer,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="cancel_question",
        title="Withdraw a question",
        description=(
            "Withdraw a pending question; it vanishes from the phone. Do this when the answer no longer matters. If "
            "the person was faster, the result has status answered and their choice."
        ),
        takes=models.CancelQuestion,
        gives=models.QuestionResult,
        run=tool_calls.cancel_question,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="send_notification",
        title="Send a notification",
        description=(
            "Send the person a notification that needs no answer: that a long task is done, or failed, or what was "
            "found. It is stored for each of their devices until that has it. Each call sends another one. To get a "
            "decision use ask_user."
        ),
        takes=models.SendNotification,
        gives=models.SentResult,
        run=tool_calls.send_notification,
    ),
    Tool(
        name="remind_me",
        title="Set a reminder",
        description=(
            "Notify the person at a later time, also if this computer is off then. Returns an id for cancel_reminder. "
            "Each call sets another reminder."
        ),
        takes=models.RemindMe,
        gives=models.ReminderResult,
        run=tool_calls.remind_me,
    ),
    Tool(
        name="cancel_reminder",
        title="Drop a reminder",
        description="Drop a reminder that has not fired yet. An error not_found means that it has, or never was.",
        takes=models.CancelReminder,
        gives=models.ReminderCancelled,
        run=tool_calls.cancel_reminder,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="send_file",
        title="Send a text file",
        description=(
            "Send a plain-text file of up to 128 KiB (a report, a log, a patch, a table) to the downloads of the "
            "person's devices. Each call sends another one."
        ),
        takes=models.SendFile,
        gives=models.FileResult,
        run=tool_calls.send_file,
    ),
    Tool(
        name="ring_phone",
        title="Ring the phone",
        description=(
            "Let the person's phones sound until they are found, at most for the given time. It is loud, also at "
            "night: only when the person asks for it, or for an emergency."
        ),
        takes=models.RingPhone,
        gives=models.SentResult,
        run=tool_calls.ring_phone,
    ),
    Tool(
        name="list_devices",
        title="List devices",
        description=(
            "List the person's devices with their ids, labels and whether they are connected now. Nothing is sent."
        ),
        takes=models.ListDevices,
        gives=models.DeviceListResult,
        run=tool_calls.list_devices,
        read_only=True,
        idempotent=True,
        open_world=False,
    ),
)
