"""Claude Code's hooks: an event becomes questions or a notice, and taps become the reply it understands. No I/O."""

from typing import Final

from reflecto.agents.agents_questions import question_call
from reflecto.agents.hook_call import (
    DEFAULTS,
    ELSEWHERE,
    NOTHING,
    Event,
    HookCall,
    HookOptions,
    Machine,
    call_id,
    notice,
    text_of,
)
from reflecto.agents.permission import permission_call
from reflecto.agents.shown import shown_line

AGENT: Final = "Claude Code"
TURN: Final = "prompt_id"
QUESTION_TOOL: Final = "AskUserQuestion"  # an allow of its permission, without answers, would answer it with nothing


def read_call(event: Event, options: HookOptions = DEFAULTS, machine: Machine = ELSEWHERE) -> HookCall:
    """Return what to do about an event.

    An event that is not known, or whose question does not fit the phone, is left to the terminal.
    """
    match event.get("hook_event_name"):
        case "PermissionRequest":
            if event.get("tool_name") == QUESTION_TOOL:
                return NOTHING
            return permission_call(AGENT, event, TURN, options, machine, takes_rules=True)
        case "PostToolUse" | "PostToolUseFailure":
            return HookCall(ends=call_id(event, TURN))
        case "PreToolUse" if event.get("tool_name") == QUESTION_TOOL:
            return question_call(AGENT, TURN, event, machine)
        case "Notification" if text_of(event, "notification_type") not in options.skipped:
            title = shown_line(text_of(event, "title"))
            return notice(AGENT, "" if title == AGENT else title, text_of(event, "cwd"), text_of(event, "message"))
        case "Stop":
            return _finished(event, "done")
        case "SubagentStop":
            return _finished(event, f"{shown_line(text_of(event, 'agent_type')) or 'a subagent'} is done")
        case _:
            return NOTHING


def _finished(event: Event, what: str) -> HookCall:
    return notice(AGENT, what, text_of(event, "cwd"), text_of(event, "last_assistant_message") or "Finished.")
