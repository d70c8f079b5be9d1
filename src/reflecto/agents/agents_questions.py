"""The questions that Claude Code itself asks (`AskUserQuestion`), and the reply that has the taps. No I/O."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from reflecto.agents.blocks import details_of
from reflecto.agents.hook_call import (
    NOTHING,
    Event,
    HookCall,
    Machine,
    Prompt,
    Reply,
    Tap,
    call_key,
    folder_line,
    text_of,
)
from reflecto.agents.permission import identity_of, source_of
from reflecto.agents.shown import framed, shown, shown_line
from reflecto.contract.limits import CHOICE_MAX_CHARS, CHOICES_MAX, CHOICES_MIN, QUESTION_MAX_CHARS
from reflecto.contract.visibility import seen_of

QUESTIONS_MAX: Final = 10  # Claude Code asks four at most
IN_TERMINAL: Final = "Answer in the terminal"


def question_call(agent: str, turn: str, event: Event, machine: Machine) -> HookCall:
    """Return the agent's own questions, all of them or none."""
    tool_input = event.get("tool_input")
    if not isinstance(tool_input, Mapping):
        return NOTHING
    asked = tool_input.get("questions")
    if not isinstance(asked, list) or not 0 < len(asked) <= QUESTIONS_MAX:
        return NOTHING
    prompts = [_prompt_of(agent, turn, event, machine, question, number) for number, question in enumerate(asked)]
    texts = {question["question"] for question, prompt in zip(asked, prompts, strict=True) if prompt}
    if None in prompts or len(texts) != len(asked):  # answers are told apart by the question's text
        return NOTHING
    fitting = tuple(prompt for prompt in prompts if prompt)
    return HookCall(prompts=fitting, decide=partial(_question_reply, tool_input), blocks=True)


def _prompt_of(agent: str, turn: str, event: Event, machine: Machine, question: object, number: int) -> Prompt | None:
    """Return one question, or None if the phone cannot take its answer or cannot show it whole."""
    if not isinstance(question, Mapping) or question.get("multiSelect") or not text_of(question, "question").strip():
        return None
    options = question.get("options")
    if not isinstance(options, list) or not CHOICES_MIN <= len(options) <= CHOICES_MAX:
        return None
    if not all(isinstance(option, Mapping) and not option.get("preview") for option in options):
        return None
    labels = tuple(shown_line(text_of(option, "label")).strip() for option in options)
    if not _are_choices(labels):
        return None
    handover = len(labels) if len(labels) < CHOICES_MAX and IN_TERMINAL not in labels else None
    choices = labels if handover is None else (*labels, IN_TERMINAL)
    plain = _plain_text(agent, event, question, labels, options)
    identity = identity_of(event, turn) | {"choices": choices, "number": number}
    plain_prompt = Prompt(plain, choices, call_key(identity | {"question": plain}), handover) if plain else None
    if len(text_of(question, "question")) > QUESTION_MAX_CHARS:  # as it came: written out, a text only grows
        return None
    text = shown(text_of(question, "question"))
    fields = [(label, text_of(option, "description")) for label, option in zip(labels, options, strict=True)]
    context = [("About", text_of(question, "header")), ("Folder", text_of(event, "cwd"))]
    details = details_of([], [pair for pair in (*fields, *context) if pair[1]], question)
    if len(text) > QUESTION_MAX_CHARS or details.missing_chars:
        return plain_prompt
    given = {"details": list(details.blocks), "source": source_of(agent, event, machine), "comment": "optional"}
    key = call_key(identity | {"question": text, "given": given})
    return Prompt(text, choices, key, handover, given, plain_prompt)


def _plain_text(
    agent: str, event: Event, question: Mapping[str, Any], labels: Sequence[str], options: Sequence[Mapping[str, Any]]
) -> str | None:
    """Return the question as one text, or None if it is too long for that."""
    written = [text_of(part, name) for part, name in [(question, "question"), (question, "header")]]
    written += [text_of(option, name) for option in options for name in ("label", "description")]
    if sum(map(len, written)) > QUESTION_MAX_CHARS:  # as it came: written out, a text only grows
        return None
    lines = [f"{agent} asks: {shown_line(text_of(question, 'header'))}".rstrip(": "), shown_line(folder_line(event))]
    lines += ["", framed(shown(text_of(question, "question")))]
    for label, option in zip(labels, options, strict=True):
        if description := text_of(option, "description"):
            lines.append(f"- {label}: {shown_line(description)}")
    text = "\n".join(lines)
    return text if len(text) <= QUESTION_MAX_CHARS else None


def _are_choices(labels: Sequence[str]) -> bool:
    distinct = {seen_of(label) for label in labels}
    fit = all(seen_of(label) and len(label) <= CHOICE_MAX_CHARS for label in labels)
    return fit and len(distinct) == len(labels) and CHOICES_MIN <= len(labels) <= CHOICES_MAX


def _question_reply(tool_input: Mapping[str, Any], taps: Sequence[Tap]) -> Reply:
    questions = tool_input["questions"]
    answers, notes = {}, {}
    for question, tap in zip(questions, taps, strict=True):
        answers[question["question"]] = question["options"][tap.choice_index]["label"]
        if tap.comment:
            notes[question["question"]] = {"notes": tap.comment}
    said = {"annotations": notes} if notes else {}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "Answered on the phone",
            "updatedInput": {**tool_input, "answers": answers, **said},
        }
    }
