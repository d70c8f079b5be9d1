"""The question whether a coding agent may run a tool, and the reply that Claude Code and Codex take. No I/O.

Codex fails closed on the fields that it reserves (`updatedInput`, `updatedPermissions`, `interrupt`); no reply to it
has any, since it proposes no rules.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from reflecto.agents.blocks import details_of
from reflecto.agents.danger import is_dangerous
from reflecto.agents.hook_call import (
    DEFAULTS,
    ELSEWHERE,
    NOTHING,
    Event,
    HookCall,
    HookOptions,
    Machine,
    Prompt,
    Reply,
    Tap,
    call_id,
    call_key,
    folder_line,
    text_of,
)
from reflecto.agents.places import home_of, short_folder
from reflecto.agents.shown import lay_out, shown_end
from reflecto.agents.standing_rules import StandingRule, offered_rule
from reflecto.agents.tool_content import Place, content_of
from reflecto.contract.limits import SOURCE_MAX_BYTES

ALLOW: Final = "Allow"
ALLOW_UNSEEN: Final = "Allow, unseen parts too"  # where not everything fits: nobody approves that without saying so
DENY: Final = "Deny"
DENIED: Final = "The user denied this on the phone. Do not try it another way; ask what to do instead."
DENIED_SAYING: Final = "The user denied this on the phone and says: {comment}"

# What matters most of a tool's input is shown last, where a cut spares its end, on lines of its own.
_SHOWN_LAST: Final = ("command", "old_string", "new_string", "content", "new_source", "plan", "prompt")


def permission_call(
    agent: str,
    event: Event,
    turn: str,
    options: HookOptions = DEFAULTS,
    machine: Machine = ELSEWHERE,
    *,
    blocks: bool = False,
    takes_rules: bool = False,
) -> HookCall:
    """Return the question of a PermissionRequest. `turn` is the field that tells one prompt's calls from the next's.

    `takes_rules`: with an allow, the agent takes the rule that it proposed.
    """
    tool, tool_input = text_of(event, "tool_name"), event.get("tool_input")
    if not tool or not isinstance(tool_input, Mapping):
        return NOTHING
    rule = offered_rule(event, home_of(event, machine.home)) if takes_rules else None
    prompt = _prompt(agent, event, turn, tool, tool_input, options, machine, rule)
    offered = rule if len(prompt.choices) > len((ALLOW, DENY)) else None
    return HookCall(
        prompts=(prompt,),
        decide=partial(permission_reply, rule=offered),
        call_id=call_id(event, turn),
        blocks=blocks,
    )


def permission_reply(taps: Sequence[Tap], rule: StandingRule | None = None) -> Reply:
    """Return the decision that a tap on the first, the second or, with a rule, the third choice is."""
    tap = taps[0]
    decision: dict[str, Any]
    if tap.choice_index == 0:
        decision = {"behavior": "allow"}
    elif rule is not None and tap.choice_index == len((ALLOW, DENY)):
        decision = {"behavior": "allow", "updatedPermissions": list(rule.updates)}
    else:
        decision = {"behavior": "deny", "message": denial(tap.comment)}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def denial(comment: str | None) -> str:
    """Return what a denied agent reads."""
    return DENIED_SAYING.format(comment=comment) if comment else DENIED


def source_of(agent: str, event: Event, machine: Machine) -> dict[str, str]:
    """Return what the hook says of who asks."""
    parts = {
        "app": agent,
        "host": machine.host,
        "where": short_folder(text_of(event, "cwd"), home_of(event, machine.home)),
        "session": text_of(event, "session_id"),
    }
    seen = {name: shown_end(part.strip(), SOURCE_MAX_BYTES) for name, part in parts.items()}
    return {name: part for name, part in seen.items() if part.strip()}


def identity_of(event: Event, turn: str) -> dict[str, object]:
    """Return the fields that tell this call from others: a PermissionRequest has no id of the tool's use."""
    names = ("hook_event_name", "session_id", "agent_id", turn, "tool_use_id", "tool_name", "tool_input")
    return {name: event.get(name) for name in names}


def _prompt(
    agent: str,
    event: Event,
    turn: str,
    tool: str,
    tool_input: Mapping[str, Any],
    options: HookOptions,
    machine: Machine,
    rule: StandingRule | None,
) -> Prompt:
    folder, home = text_of(event, "cwd"), home_of(event, machine.home)
    content = content_of(tool, tool_input, Place(folder, home, machine.read_file))
    context = [("Folder", folder), ("Subagent", text_of(event, "agent_type"))]
    fields = [*content.fields, *((name, value) for name, value in context if value)]
    details = details_of(content.longs, fields, tool_input)
    is_high = options.danger == "always" or (options.danger == "rules" and is_dangerous(tool_input, content.files))
    question, choices = content.question, (ALLOW, DENY, *((rule.label,) if rule is not None and not is_high else ()))
    if details.missing_chars:
        question = f"{question} {details.missing_chars:,} characters are left out."
        choices = (ALLOW_UNSEEN, DENY)
    given = {"details": list(details.blocks), "source": source_of(agent, event, machine), "comment": "optional"}
    plain: Prompt | None = _plain_prompt(agent, event, turn, tool, tool_input)
    if is_high:
        given["danger"] = "high"
        if options.confirm != "tap":
            given["confirm"] = options.confirm
            plain = None  # what the person chose to be asked for is never quietly less
    key = call_key(identity_of(event, turn) | {"question": question, "choices": choices, "given": given})
    return Prompt(question, choices, key, given=given, plain=plain)


def _plain_prompt(agent: str, event: Event, turn: str, tool: str, tool_input: Mapping[str, Any]) -> Prompt:
    """Return the question as one text of at most 1000 characters."""
    subagent = text_of(event, "agent_type")
    asker = f"{agent} ({subagent})" if subagent else agent
    laid_out = lay_out([f"{asker}: {tool}", folder_line(event)], tool_input, last=_SHOWN_LAST)
    choices = (ALLOW if laid_out.whole else ALLOW_UNSEEN, DENY)
    return Prompt(laid_out.text, choices, call_key(identity_of(event, turn) | {"question": laid_out.text}))
