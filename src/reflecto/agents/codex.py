"""Codex's hooks and its `notify` program: an event becomes a question or a notice. No I/O."""

from typing import Final

from reflecto.agents.hook_call import (
    DEFAULTS,
    ELSEWHERE,
    NOTHING,
    Event,
    HookCall,
    HookOptions,
    Machine,
    notice,
    text_of,
)
from reflecto.agents.permission import permission_call

AGENT: Final = "Codex"


def read_call(event: Event, options: HookOptions = DEFAULTS, machine: Machine = ELSEWHERE) -> HookCall:
    """Return what to do about a hook's event, or about what `notify` was called with."""
    if event.get("type") == "agent-turn-complete":
        return NOTHING if _names_the_thread(event) else _finished(event, "last-assistant-message")
    match event.get("hook_event_name"):
        case "PermissionRequest":
            return permission_call(AGENT, event, "turn_id", options, machine, blocks=True)
        case "Stop":
            return _finished(event, "last_assistant_message")
        case _:
            return NOTHING


def _names_the_thread(event: Event) -> bool:
    """Tell whether this was the turn in which Codex makes up a title, which nobody waits for (seen with 0.171)."""
    asked = event.get("input-messages")
    if not isinstance(asked, list) or len(asked) != 1 or not isinstance(asked[0], str):
        return False
    instruction, given, _ = asked[0].partition("\n\nUser prompt:\n")
    return bool(given) and instruction.startswith("Generate a ") and " title " in instruction


def _finished(event: Event, message_field: str) -> HookCall:
    return notice(AGENT, "done", text_of(event, "cwd"), text_of(event, message_field) or "Finished.")
