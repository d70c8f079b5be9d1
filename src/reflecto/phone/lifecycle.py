"""A question's life on this phone, as a table. Pure: `(state, what happened) → new state + effects`."""

from typing import Final, Literal, NamedTuple

import msgspec

from reflecto.phone import effects
from reflecto.phone.effects import Effect, Outcome
from reflecto.phone.state import Answer, Phase, PhoneState, Question

Happening = Literal[
    "tapped", "time_ran_out", "accepted", "answered_here", "answered", "cancelled", "expired", "refused"
]

# What is not in the table changes nothing: a second tap, a late word of the server, news of an ended question.
# Time does not end a question whose answer is on its way: the server may have taken it, so its word is awaited.
# The app's table is the same, and both run tests/vectors/lifecycle.json.
LIFECYCLE: Final[dict[tuple[Phase | Literal["lapsed"], Happening], Literal["sending"] | Outcome]] = {
    ("open", "tapped"): "sending",
    ("open", "time_ran_out"): "expired",
    ("open", "answered"): "answered_elsewhere",
    ("open", "answered_here"): "sent",  # by this device, before its state was restored from a copy
    ("open", "cancelled"): "withdrawn",
    ("open", "expired"): "expired",
    ("sending", "accepted"): "sent",
    ("sending", "answered_here"): "sent",
    ("sending", "answered"): "answered_elsewhere",
    ("sending", "cancelled"): "withdrawn",
    ("sending", "expired"): "expired",
    ("sending", "refused"): "not_recorded",
    # Ended by this phone's own clock, which was ahead: the server's word is the better one.
    ("lapsed", "answered"): "answered_elsewhere",
    ("lapsed", "answered_here"): "sent",
    ("lapsed", "cancelled"): "withdrawn",
}

LAPSED_MAX: Final = 16  # questions that time ended, kept for the server's word on them; the oldest go first


class Verdict(NamedTuple):
    """The server's verdict on a question. `by` (label) and `by_device_id` name the winner of an answered one."""

    id: str
    happening: Literal["accepted", "answered", "cancelled", "expired", "refused"]
    choice_index: int | None = None
    by: str | None = None
    by_device_id: str | None = None
    code: str | None = None
    reason: str | None = None  # of a cancelled one


class WrongNumber(NamedTuple):
    """The server refused the number, and the question is still open for so many tries."""

    id: str
    tries_left: int


class Step(NamedTuple):
    """The new state, and what to tell."""

    state: PhoneState
    effects: tuple[Effect, ...] = ()


def tap(state: PhoneState, interaction_id: str, answer: Answer) -> Step:
    """Take the owner's choice; it is stored until the server's verdict is here."""
    question = state.question(interaction_id)
    if question is None or LIFECYCLE.get((question.phase, "tapped")) != "sending":
        return Step(state)
    tapped = msgspec.structs.replace(question, answer=answer)
    questions = tuple(tapped if other.id == tapped.id else other for other in state.questions)
    return Step(msgspec.structs.replace(state, questions=questions), (sending(tapped, answer.choice_index),))


def judge(state: PhoneState, verdict: Verdict) -> Step:
    """Apply the server's verdict, whether it came as a reply or through the queue."""
    question = state.question(verdict.id)
    lapsed = next((each for each in state.lapsed if each.id == verdict.id), None)
    phase: Phase | Literal["lapsed"] = question.phase if question else "lapsed"
    question = question or lapsed
    if question is None:
        return Step(state)
    happening: Happening = verdict.happening
    if happening == "answered" and _is_this_phones(state, question, verdict):
        happening = "answered_here"
    after = LIFECYCLE.get((phase, happening))
    if after is None or after == "sending":
        return Step(state)
    index = question.answer.choice_index if after == "sent" and question.answer else verdict.choice_index
    ended = effects.Ended(
        id=question.id,
        outcome=after,
        choice_index=index,
        choice=_label(question, index),
        by=verdict.by if after == "answered_elsewhere" else None,
        by_device_id=verdict.by_device_id if after == "answered_elsewhere" else None,
        too_late=phase == "sending" and after != "sent",
        detail=verdict.code,
        reason=verdict.reason,
    )
    left = tuple(other for other in state.questions if other.id != question.id)
    still_lapsed = tuple(other for other in state.lapsed if other.id != question.id)
    return Step(msgspec.structs.replace(state, questions=left, lapsed=still_lapsed), (ended,))


def reopen(state: PhoneState, wrong: WrongNumber) -> Step:
    """Take back an answer whose number was wrong, so that the owner can try once more."""
    question = state.question(wrong.id)
    if question is None or question.answer is None:
        return Step(state)
    opened = msgspec.structs.replace(question, answer=None)
    questions = tuple(opened if other.id == opened.id else other for other in state.questions)
    told = effects.WrongNumber(id=wrong.id, tries_left=wrong.tries_left)
    return Step(msgspec.structs.replace(state, questions=questions), (told,))


def end_overdue(state: PhoneState, now: float) -> Step:
    """End the questions that have expired; the second of `expires_at` itself is too late already."""
    overdue = [
        question
        for question in state.questions
        if now >= question.expires_at and (question.phase, "time_ran_out") in LIFECYCLE
    ]
    if not overdue:
        return Step(state)
    left = tuple(question for question in state.questions if question not in overdue)
    ended = tuple(effects.Ended(id=question.id, outcome="expired") for question in overdue)
    lapsed = (*state.lapsed, *overdue)[-LAPSED_MAX:]
    return Step(msgspec.structs.replace(state, questions=left, lapsed=lapsed), ended)


def sending(question: Question, index: int) -> effects.Sending:
    """Tell that the answer is on its way."""
    return effects.Sending(id=question.id, choice_index=index, choice=question.choices[index])


def _is_this_phones(state: PhoneState, question: Question, verdict: Verdict) -> bool:
    if state.identity is None or verdict.by_device_id != state.identity.device_id:
        return False
    return question.answer is None or question.answer.choice_index == verdict.choice_index


def _label(question: Question, index: int | None) -> str | None:
    return question.choices[index] if index is not None and 0 <= index < len(question.choices) else None
