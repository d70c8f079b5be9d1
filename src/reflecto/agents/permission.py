"""The question whether a coding agent may run a tool, and the reply that Claude Code and Codex take. No I/O.

Codex fails closed on the fields that it reserves (`updatedInput`, `updatedPermissions`, `interrupt`); no reply has any.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from reflecto.agents.hook_call import NOTHING, Event, HookCall, Prompt, Reply, call_id, call_key, folder_line, text_of
from reflecto.agents.shown import lay_out

ALLOW: Final = "Allow"
ALLOW_UNSEEN: Final = "Allow, unseen parts too"  # where not everything fits: nobody approves that without saying so
DENY: Final = "Deny"
DENIED: Final = "The user denied this on the phone. Do not try it another way; ask what to do instead."

# What matters most of a tool's input is shown last, where a cut spares its end, on lines of its own.
_SHOWN_LAST: Final = ("command", "old_string", "new_string", "content", "new_source", "plan", "prompt")


def permission_call(agent: str, event: Event, turn: str, *, blocks: bool = False) -> HookCall:
    """Return the question of a PermissionRequest. `turn` is the field that tells one prompt's calls from the next's."""
    tool, tool_input = text_of(event, "tool_name"), event.get("tool_input")
    if not tool or not isinstance(tool_input, Mapping):
        return NOTHING
    subagent = text_of(event, "agent_type")
    asker = f"{agent} ({subagent})" if subagent else agent
    laid_out = lay_out([f"{asker}: {tool}", folder_line(event)], tool_input, last=_SHOWN_LAST)
    choices = (ALLOW if laid_out.whole else ALLOW_UNSEEN, DENY)
    key = call_key(identity_of(event, turn) | {"question": laid_out.text})
    return HookCall(
        prompts=(Prompt(laid_out.text, choices, key),),
        decide=permission_reply,
        call_id=call_id(event, turn),
        blocks=blocks,
    )


def permission_reply(taps: Sequence[int]) -> Reply:
    """Return the decision that a tap on the first or the second choice is."""
    decision = {"behavior": "allow"} if taps[0] == 0 else {"behavior": "deny", "message": DENIED}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def identity_of(event: Event, turn: str) -> dict[str, object]:
    """Return the fields that tell this call from others: a PermissionRequest has no id of the tool's use."""
    names = ("hook_event_name", "session_id", "agent_id", turn, "tool_use_id", "tool_name", "tool_input")
    return {name: event.get(name) for name in names}
