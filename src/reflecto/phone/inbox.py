"""The rules of a phone, without I/O: `(state, event, now) → new state + effects`. `now` is Unix seconds.

What to do with each type of envelope is the table `READERS`; to show a further type, add its reader there.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from reflecto.contract.envelopes import (
    Envelope,
    InteractionClosedPayload,
    InteractionPayload,
    TokenCreatedPayload,
)
from reflecto.contract.ids import is_id
from reflecto.contract.limits import CHOICES_MAX, CHOICES_MIN
from reflecto.contract.question_states import SIGNED_FIELDS
from reflecto.phone import alarms, effects
from reflecto.phone.alarms import Acknowledged, AlarmVerdict, Silenced
from reflecto.phone.lifecycle import Step, Verdict, WrongNumber, end_overdue, judge, reopen, sending, tap
from reflecto.phone.muting import MutedBy, is_muted, mute, read_sender_changed
from reflecto.phone.readers import (
    payload_of,
    read_document,
    read_notification,
    read_reminder,
    read_ring,
    source_of,
    token_id_of,
)
from reflecto.phone.state import Answer, HeldToken, PhoneState, Question

SEEN_MAX: Final = 4096  # marks kept; the oldest go first
SEEN_SLACK_SECONDS: Final = 3600  # this clock may differ from the server's


class Arrived(NamedTuple):
    """A queue entry that was opened. `kept_until`: the server drops it then (Unix seconds)."""

    seq: int
    kept_until: int
    envelope: Envelope


class Unopened(NamedTuple):
    """A queue entry that could not be opened."""

    seq: int
    reason: str


class Tick(NamedTuple):
    """Time has passed."""


class Tapped(NamedTuple):
    """The owner chose; the answer is signed."""

    id: str
    answer: Answer


Event = Arrived | Unopened | Tick | Tapped | Verdict | WrongNumber | Acknowledged | Silenced | AlarmVerdict | MutedBy


def advance(state: PhoneState, event: Event, now: float) -> Step:
    """Apply one event. The same event twice changes nothing the second time."""
    match event:
        case Arrived():
            return _read(state, event, now)
        case Unopened(seq, reason):
            return Step(msgspec.structs.replace(state, cursor=seq), (effects.Unreadable(seq=seq, reason=reason),))
        case Tick():
            overdue = end_overdue(state, now)
            sounded = alarms.sound_due(overdue.state, now)
            return Step(sounded.state, overdue.effects + sounded.effects)
        case Acknowledged() | Silenced() | AlarmVerdict():
            return alarms.advance(state, event)
        case MutedBy():
            return mute(state, event, now)
        case Tapped() | Verdict() | WrongNumber():
            return _on_answer(state, event, now)


def _on_answer(state: PhoneState, event: Tapped | Verdict | WrongNumber, now: float) -> Step:
    match event:
        case Tapped(interaction_id, answer):
            overdue = end_overdue(state, now)  # a tap in the very second of the end comes too late
            step = tap(overdue.state, interaction_id, answer)
            return Step(step.state, overdue.effects + step.effects)
        case Verdict():
            return judge(state, event)
        case WrongNumber():
            return reopen(state, event)


def resume(state: PhoneState, now: float) -> Step:
    """Tell again what an earlier run left open and has not expired since, and which tokens nobody has seen."""
    overdue = end_overdue(state, now)
    left = tuple(
        effects.Opened.of(question, resumed=True)
        if question.answer is None
        else sending(question, question.answer.choice_index)
        for question in overdue.state.questions
    )
    held = tuple(effects.TokenHeld(id=token.id, label=token.label) for token in state.tokens)
    going_on = tuple(
        effects.Acknowledging(id=each.id) if each.acknowledged else effects.Alarmed.of(each, resumed=True)
        for each in state.emergencies
    )
    sounded = alarms.sound_due(overdue.state, now)
    return Step(sounded.state, held + overdue.effects + left + going_on + sounded.effects)


def hold_token(state: PhoneState, held: HeldToken) -> Step:
    """Keep a token until it may be shown. The first one comes twice: in the enrolment's reply and in the queue."""
    mark = f"token {held.id}"
    if mark in state.seen:
        return Step(state)
    seen = {**state.seen, mark: 2**53}  # its copy in the queue may be days behind
    state = msgspec.structs.replace(state, seen=seen, tokens=(*state.tokens, held))
    return Step(state, (effects.TokenHeld(id=held.id, label=held.label),))


def release_tokens(state: PhoneState) -> Step:
    """Hand out the tokens that nobody has seen. Call it only where their plaintext may be shown."""
    url = state.identity.url if state.identity else ""
    shown = tuple(effects.TokenShown(id=held.id, label=held.label, token=held.token, url=url) for held in state.tokens)
    return Step(msgspec.structs.replace(state, tokens=()), shown) if shown else Step(state)


def _read(state: PhoneState, arrived: Arrived, now: float) -> Step:
    envelope = arrived.envelope
    # Not max(): a server restored from a backup counts on from a smaller number.
    state = msgspec.structs.replace(state, cursor=arrived.seq)
    mark = f"{envelope.type} {envelope.id}"
    if mark in state.seen and envelope.type not in REPEATED:
        return Step(state)
    marked = _mark(state, mark, arrived.kept_until, now)
    reader = READERS.get(envelope.type, _read_unsupported)
    try:
        return reader(marked, envelope, now)
    except msgspec.ValidationError:  # its text could quote what was sealed
        reason = f"an envelope of type {envelope.type!r} is not in the form of its type"
        return Step(marked, (effects.Unreadable(seq=arrived.seq, reason=reason),))


def _mark(state: PhoneState, mark: str, kept_until: int, now: float) -> PhoneState:
    fresh = {key: until for key, until in state.seen.items() if until > now}
    fresh[mark] = kept_until + SEEN_SLACK_SECONDS
    for oldest in list(fresh)[: max(0, len(fresh) - SEEN_MAX)]:
        del fresh[oldest]
    return msgspec.structs.replace(state, seen=fresh)


def _read_question(state: PhoneState, envelope: Envelope, now: float) -> Step:
    payload = payload_of(envelope, InteractionPayload)
    if not is_id(envelope.id, "int") or not CHOICES_MIN <= len(payload.choices) <= CHOICES_MAX:
        raise msgspec.ValidationError
    if f"interaction.closed {envelope.id}" in state.seen:
        return Step(state)
    question = Question(
        id=envelope.id,
        source=source_of(envelope),
        text=payload.question,
        choices=payload.choices,
        expires_at=payload.expires_at,
        given={name: envelope.payload[name] for name in SIGNED_FIELDS if name in envelope.payload},
        token_id=token_id_of(envelope),
    )
    opened = effects.Opened.of(question)  # raises if what was given is not in its form
    if now >= question.expires_at:
        missed = effects.Missed(
            id=question.id, source=question.source, question=question.text, expires_at=question.expires_at
        )
        return Step(state, (missed,))
    if is_muted(state, question.token_id, now):
        return Step(state, (effects.PutAside(id=question.id, source=question.source),))
    questions = (*state.questions, question)
    return Step(msgspec.structs.replace(state, questions=questions), (opened,))


def _read_closed(state: PhoneState, envelope: Envelope, now: float) -> Step:
    del now  # the server's word counts, whatever this clock says
    payload = payload_of(envelope, InteractionClosedPayload)
    reason = None if payload.reason is msgspec.UNSET else payload.reason
    verdict = Verdict(
        envelope.id,
        payload.status,
        payload.choice_index,
        payload.answered_by,
        payload.answered_by_id,
        reason=reason,
    )
    return judge(state, verdict)


def _read_token(state: PhoneState, envelope: Envelope, now: float) -> Step:
    del now
    payload = payload_of(envelope, TokenCreatedPayload)
    return hold_token(state, HeldToken(payload.id, payload.label, payload.token))


def _read_unsupported(state: PhoneState, envelope: Envelope, now: float) -> Step:
    del now
    return Step(state, (effects.Unsupported(id=envelope.id, type=envelope.type),))


REPEATED: Final = frozenset({"emergency"})  # it comes again for each round

READERS: Final[dict[str, Callable[[PhoneState, Envelope, float], Step]]] = {
    "interaction": _read_question,
    "interaction.closed": _read_closed,
    "token.created": _read_token,
    "token.changed": read_sender_changed,
    "notification": read_notification,
    "document": read_document,
    "ring": read_ring,
    "ring.stopped": alarms.read_ring_stopped,
    "emergency": alarms.read_emergency,
    "emergency.closed": alarms.read_emergency_closed,
    "reminder": read_reminder,
}
