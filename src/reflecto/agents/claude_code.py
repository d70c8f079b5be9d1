"""Claude Code's hooks: an event becomes questions or a notice, and taps become the reply it understands. No I/O."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final

from reflecto.agents.hook_call import (
    NOTHING,
    Event,
    HookCall,
    Prompt,
    Reply,
    call_id,
    call_key,
    folder_line,
    notice,
    text_of,
)
from reflecto.agents.permission import identity_of, permission_call
from reflecto.agents.shown import framed, shown, shown_line
from reflecto.contract.limits import CHOICE_MAX_CHARS, CHOICES_MAX, CHOICES_MIN, QUESTION_MAX_CHARS
from reflecto.contract.visibility import seen_of

AGENT: Final = "Claude Code"
TURN: Final = "prompt_id"
QUESTION_TOOL: Final = "AskUserQuestion"  # an allow of its permission, without answers, would answer it with nothing
QUESTIONS_MAX: Final = 10  # Claude Code asks four at most
IN_TERMINAL: Final = "Answer in the terminal"


def read_call(event: Event, skipped_notifications: AbstractSet[str] = frozenset()) -> HookCall:
    """Return what to do about an event. `skipped_notifications` are `notification_type`s not to pass on.

    An event that is not known, or whose question does not fit the phone, is left to the terminal.
    """
    match event.get("hook_event_name"):
        case "PermissionRequest":
            return NOTHING if event.get("tool_name") == QUESTION_TOOL else permission_call(AGENT, event, TURN)
        case "PostToolUse" | "PostToolUseFailure":
            return HookCall(ends=call_id(event, TURN))
        case "PreToolUse" if event.get("tool_name") == QUESTION_TOOL:
            return _question_call(event)
        case "Notification" if text_of(event, "notification_type") not in skipped_notifications:
            title = shown_line(text_of(event, "title"))
            return notice(AGENT, "" if title == AGENT else title, text_of(event, "cwd"), text_of(event, "message"))
        case "Stop":
            return _finished(event, "done")
        case "SubagentStop":
            return _finished(event, f"{shown_line(text_of(event, 'agent_type')) or 'a subagent'} is done")
        case _:
            return NOTHING


def _question_call(event: Event) -> HookCall:
    """Return the agent's own questions, all of them or none."""
    tool_input = event.get("tool_input")
    if not isinstance(tool_input, Mapping):
        return NOTHING
    asked = tool_input.get("questions")
    if not isinstance(asked, list) or not 0 < len(asked) <= QUESTIONS_MAX:
        return NOTHING
    prompts = [_prompt_of(event, question, number) for number, question in enumerate(asked)]
    texts = {question["question"] for question, prompt in zip(asked, prompts, strict=True) if prompt}
    if None in prompts or len(texts) != len(asked):  # answers are told apart by the question's text
        return NOTHING
    fitting = tuple(prompt for prompt in prompts if prompt)
    return HookCall(prompts=fitting, decide=partial(_question_reply, tool_input), blocks=True)


def _prompt_of(event: Event, question: object, number: int) -> Prompt | None:
    """Return one question, or None if the phone cannot take its answer or cannot show it whole."""
    if not isinstance(question, Mapping) or question.get("multiSelect") or not text_of(question, "question").strip():
        return None
    options = question.get("options")
    if not isinstance(options, list) or not CHOICES_MIN <= len(options) <= CHOICES_MAX:
        return None
    if not all(isinstance(option, Mapping) and not option.get("preview") for option in options):
        return None
    written = [text_of(part, name) for part, name in [(question, "question"), (question, "header")]]
    written += [text_of(option, name) for option in options for name in ("label", "description")]
    if sum(map(len, written)) > QUESTION_MAX_CHARS:  # as it came: written out, a text only grows
        return None
    labels = tuple(shown_line(text_of(option, "label")).strip() for option in options)
    if not _are_choices(labels):
        return None
    lines = [f"{AGENT} asks: {shown_line(text_of(question, 'header'))}".rstrip(": "), shown_line(folder_line(event))]
    lines += ["", framed(shown(text_of(question, "question")))]
    for label, option in zip(labels, options, strict=True):
        if description := text_of(option, "description"):
            lines.append(f"- {label}: {shown_line(description)}")
    text = "\n".join(lines)
    if len(text) > QUESTION_MAX_CHARS:
        return None
    handover = len(labels) if len(labels) < CHOICES_MAX and IN_TERMINAL not in labels else None
    choices = labels if handover is None else (*labels, IN_TERMINAL)
    key = call_key(identity_of(event, TURN) | {"question": text, "choices": choices, "number": number})
    return Prompt(text, choices, key, handover)


def _are_choices(labels: Sequence[str]) -> bool:
    distinct = {seen_of(label) for label in labels}
    fit = all(seen_of(label) and len(label) <= CHOICE_MAX_CHARS for label in labels)
    return fit and len(distinct) == len(labels) and CHOICES_MIN <= len(labels) <= CHOICES_MAX


def _question_reply(tool_input: Mapping[str, Any], taps: Sequence[int]) -> Reply:
    questions = tool_input["questions"]
    answers = {
        question["question"]: question["options"][tap]["label"] for question, tap in zip(questions, taps, strict=True)
    }
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "Answered on the phone",
            "updatedInput": {**tool_input, "answers": answers},
        }
    }


def _finished(event: Event, what: str) -> HookCall:
    return notice(AGENT, what, text_of(event, "cwd"), text_of(event, "last_assistant_message") or "Finished.")
