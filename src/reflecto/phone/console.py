"""What the owner sees and presses: prints effects, keeps one question in front, turns keys into taps."""

import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from reflecto.contract.visibility import visible
from reflecto.phone import effects
from reflecto.phone.effects import Effect
from reflecto.phone.focus import Focus, chosen, follow, read_key, switch
from reflecto.phone.lines import LineWriter, token_lines
from reflecto.phone.markup import read_html
from reflecto.phone.state import OpenEmergency, PhoneState, Question
from reflecto.terminal.columns import clip
from reflecto.terminal.live_line import LiveLine
from reflecto.terminal.times import duration

_TITLE_COLUMNS: Final = 24  # of an emergency in the status line


class TapOn(NamedTuple):
    """A key that answers this question."""

    id: str
    choice_index: int


class Acknowledge(NamedTuple):
    """A key that acknowledges this emergency."""

    id: str


class Silence(NamedTuple):
    """A key that stops these rings everywhere, and emergencies on this phone."""

    ring_ids: tuple[str, ...]


class Console:
    """The screen and keyboard of one phone; it knows the phone only by what `show` and `refresh` tell.

    `clock` is Unix seconds, used until the first `refresh`; `monotonic` times the guard against a mis-tap.
    """

    def __init__(
        self,
        line: LiveLine,
        *,
        takes_keys: bool,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line, self.takes_keys, self._clock, self._monotonic = line, takes_keys, clock, monotonic
        self._writer = LineWriter()
        self._focus = Focus()
        self._open: tuple[Question, ...] = ()
        self._ahead_seconds = 0.0  # of the server's clock
        self._in_view: str | None = None  # the question that nothing was printed below
        self._rings: dict[str, float] = {}  # what sounds, until when by `monotonic`; emergencies too
        self._emergencies: tuple[OpenEmergency, ...] = ()

    def show(self, effect: Effect) -> None:
        """Print the lines that tell of this effect."""
        if isinstance(effect, effects.TokenShown):
            self._line.print(token_lines(effect))
            return
        if not isinstance(effect, effects.AlarmRang):  # the bell and the live line tell of it
            self._line.print(self._writer.describe(effect, self._now(), self._line.columns()))
            self._in_view = None
        if isinstance(effect, effects.Rang | effects.AlarmRang):
            self._rings[effect.id] = self._monotonic() + effect.duration
        elif isinstance(effect, effects.RingStopped | effects.AlarmEnded | effects.Acknowledging):
            self._rings.pop(effect.id, None)
        if not isinstance(effect, effects.Opened):
            return
        if self._focus.current is None:
            self._in_view = effect.id
        elif self.takes_keys:
            front, this = self._writer.number(self._focus.current), self._writer.number(effect.id)
            self._line.print([f"   The keys still answer {front}; Tab goes to {this}."])

    def refresh(self, state: PhoneState, now: float) -> None:
        """Catch up with what is open, and redraw the live line. `now` is Unix seconds by the server's clock.

        It is called once a second: that is the rhythm of the bell.
        """
        self._ahead_seconds = now - self._clock()
        self._open = state.open_questions()
        self._emergencies = tuple(each for each in state.emergencies if not each.acknowledged)
        before = self._focus.current
        self._focus = follow(self._focus, self._open_ids(), self._monotonic())
        if self.takes_keys and self._focus.current not in {before, self._in_view}:
            self._print_front()
        if self._is_ringing():
            self._line.ring()
        self._line.draw(self._status())

    def press(self, chunk: bytes) -> TapOn | Acknowledge | Silence | Literal["quit"] | None:
        """Return what the keys just read ask for; switching between questions is done here."""
        key = read_key(chunk)
        if key == "acknowledge" and self._emergencies:
            return Acknowledge(self._emergencies[0].id)
        if self._is_ringing():
            # Whatever the key: who reaches for a ringing phone answers nothing with it.
            emergencies = {each.id for each in self._emergencies}
            stopped = tuple(ring_id for ring_id in self._rings if ring_id not in emergencies)
            self._rings.clear()
            self._line.draw(self._status())
            return Silence(stopped)
        if key == "quit":
            return "quit"
        front = self._front()
        if key is None or front is None:
            return None
        if key == "next":
            self._focus = switch(self._focus, self._open_ids())
            self._print_front()
            self._line.draw(self._status())
            return None
        index = chosen(self._focus, key, len(front.choices), self._monotonic())
        return None if index is None else TapOn(front.id, index)

    def close(self) -> None:
        """Take the live line away."""
        self._line.draw("")

    def _is_ringing(self) -> bool:
        self._rings = {ring_id: until for ring_id, until in self._rings.items() if self._monotonic() < until}
        return bool(self._rings)

    def _open_ids(self) -> list[str]:
        return [question.id for question in self._open]

    def _front(self) -> Question | None:
        return next((question for question in self._open if question.id == self._focus.current), None)

    def _print_front(self) -> None:
        front = self._front()
        if front is not None:
            self._line.print(self._writer.question(effects.Opened.of(front), self._now(), self._line.columns()))
            self._in_view = front.id

    def _now(self) -> float:
        return self._clock() + self._ahead_seconds

    def _status(self) -> str:
        if self._emergencies:
            return self._emergency_status(self._emergencies[0])
        if self._is_ringing():
            left = duration(max(self._rings.values()) - self._monotonic())
            return f"Ringing, {left} left" + ("; any key stops it" if self.takes_keys else "")
        front = self._front()
        if front is None:
            return "Waiting for questions" + ("; q quits" if self.takes_keys else "")
        status = f"{self._writer.number(front.id)}: {duration(front.expires_at - self._now())} left"
        if not self.takes_keys:
            return status
        keys = ", ".join(f"{index + 1} {visible(choice)}" for index, choice in enumerate(front.choices))
        others = f"; Tab: next of {len(self._open)}" if len(self._open) > 1 else ""
        return f"{status}{others}; q quits; {keys}"

    def _emergency_status(self, emergency: OpenEmergency) -> str:
        which = ""
        if len(self._emergencies) > 1:  # the key ends only one: say which
            text = emergency.title or (read_html(emergency.message).text if emergency.html else emergency.message)
            which = f" 1 of {len(self._emergencies)}, {clip(visible(' '.join(text.split())), _TITLE_COLUMNS)},"
        status = f"Emergency{which} of {visible(emergency.source)}, {duration(emergency.expires_at - self._now())} left"
        if not self.takes_keys:
            return status
        silences = f"; any other key silences {'all' if which else 'it'} here" if self._is_ringing() else ""
        return f"{status}; a acknowledges {'this one' if which else 'it'} everywhere{silences}"
