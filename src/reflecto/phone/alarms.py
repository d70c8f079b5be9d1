"""What a phone makes of emergencies and stopped rings. Pure: `(state, what happened, now) → new state + effects`.

An emergency rings each time the server sends it, and by itself every `retry` seconds where the server cannot be heard.
"""

from typing import Literal, NamedTuple

import msgspec

from reflecto.contract.envelopes import EmergencyClosedPayload, EmergencyPayload, Envelope, RingStoppedPayload
from reflecto.contract.limits import EMERGENCY_RETRY_MIN_SECONDS, RING_DEFAULT_SECONDS
from reflecto.phone import effects
from reflecto.phone.lifecycle import Step
from reflecto.phone.readers import payload_of, source_of
from reflecto.phone.state import OpenEmergency, PhoneState


class Acknowledged(NamedTuple):
    """The owner acknowledged the emergency with this id."""

    id: str


class Silenced(NamedTuple):
    """The owner silenced all open emergencies on this phone. Other phones go on ringing."""


class AlarmVerdict(NamedTuple):
    """The server's verdict on an acknowledgement."""

    id: str
    outcome: Literal["acknowledged", "cancelled", "expired", "not_recorded"]


def advance(state: PhoneState, event: Acknowledged | Silenced | AlarmVerdict) -> Step:
    """Apply what the owner did, or the server's verdict on it."""
    match event:
        case Acknowledged(emergency_id):
            return acknowledge(state, emergency_id)
        case Silenced():
            return silence(state)
        case AlarmVerdict():
            return judge_acknowledgement(state, event)


def read_emergency(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Show the emergency when it first comes, and ring once for each of its rounds."""
    payload = payload_of(envelope, EmergencyPayload)
    known = state.emergency(envelope.id)
    if known is not None:
        is_next_round = now - known.rang_at >= known.retry / 2
        return _ring(state, known, now) if is_next_round else Step(state)
    mark = f"emergency.shown {envelope.id}"
    if mark in state.seen or f"emergency.closed {envelope.id}" in state.seen or now >= payload.expires_at:
        return Step(state)
    emergency = OpenEmergency(
        id=envelope.id,
        receipt=payload.receipt,
        source=source_of(envelope),
        message=payload.message,
        title=payload.title,
        html=payload.html,
        url=payload.url,
        url_title=payload.url_title,
        retry=max(payload.retry, EMERGENCY_RETRY_MIN_SECONDS),
        expires_at=payload.expires_at,
    )
    state = msgspec.structs.replace(
        state,
        emergencies=(*state.emergencies, emergency),
        seen={**state.seen, mark: payload.expires_at + 3600},
    )
    step = _ring(state, emergency, now)
    return Step(step.state, (effects.Alarmed.of(emergency), *step.effects))


def read_emergency_closed(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Stop the sound, and tell how the emergency ended."""
    del now  # the server's word counts, whatever this clock says
    payload = payload_of(envelope, EmergencyClosedPayload)
    return _end(state, envelope.id, payload.status, payload.by)


def read_ring_stopped(state: PhoneState, envelope: Envelope, now: float) -> Step:
    """Stop the sound of a ring that was stopped on some device."""
    del now
    payload = payload_of(envelope, RingStoppedPayload)
    return Step(state, (effects.RingStopped(id=envelope.id, by=payload.by),))


def sound_due(state: PhoneState, now: float) -> Step:
    """Ring again what is due, and end what has expired, unless the server's verdict on it is awaited."""
    told: tuple[effects.Effect, ...] = ()
    for emergency in state.emergencies:
        if now >= emergency.expires_at and not emergency.acknowledged:
            step = _end(state, emergency.id, "expired", None)
        elif now - emergency.rang_at >= emergency.retry:
            step = _ring(state, emergency, now)
        else:
            continue
        state, told = step.state, told + step.effects
    return Step(state, told)


def silence(state: PhoneState) -> Step:
    """Stop ringing for the emergencies that are open now."""
    silent = tuple(msgspec.structs.replace(each, silenced=True) for each in state.emergencies)
    return Step(msgspec.structs.replace(state, emergencies=silent) if silent else state)


def acknowledge(state: PhoneState, emergency_id: str) -> Step:
    """Take the owner's acknowledgement; it is stored until the server's verdict is here."""
    emergency = state.emergency(emergency_id)
    if emergency is None or emergency.acknowledged:
        return Step(state)
    taken = msgspec.structs.replace(emergency, acknowledged=True, silenced=True)
    return Step(_with(state, taken), (effects.Acknowledging(id=emergency_id),))


def judge_acknowledgement(state: PhoneState, verdict: AlarmVerdict) -> Step:
    """End the emergency as the server's verdict says."""
    return _end(state, verdict.id, verdict.outcome, None)


def _ring(state: PhoneState, emergency: OpenEmergency, now: float) -> Step:
    state = _with(state, msgspec.structs.replace(emergency, rang_at=now))
    if emergency.silenced:
        return Step(state)
    return Step(state, (effects.AlarmRang(id=emergency.id, duration=min(emergency.retry, RING_DEFAULT_SECONDS)),))


def _end(state: PhoneState, emergency_id: str, outcome: effects.AlarmOutcome, by: str | None) -> Step:
    if state.emergency(emergency_id) is None:
        return Step(state)
    left = tuple(each for each in state.emergencies if each.id != emergency_id)
    ended = effects.AlarmEnded(id=emergency_id, outcome=outcome, by=by)
    return Step(msgspec.structs.replace(state, emergencies=left), (ended,))


def _with(state: PhoneState, emergency: OpenEmergency) -> PhoneState:
    changed = tuple(emergency if each.id == emergency.id else each for each in state.emergencies)
    return msgspec.structs.replace(state, emergencies=changed)
