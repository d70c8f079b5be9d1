"""What the owner sees and presses: prints effects, keeps one question in front, turns keys into wishes."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from reflecto.contract.visibility import visible
from reflecto.phone import effects, statuses
from reflecto.phone.effects import Effect
from reflecto.phone.entry import (
    Entry,
    HoldEntry,
    MuteChosen,
    MuteMenu,
    NumberEntry,
    NumberTyped,
    RefuseMenu,
    WordEntry,
    WordTyped,
)
from reflecto.phone.focus import ESCAPE, Focus, Key, chosen, follow, guard, read_key, switch
from reflecto.phone.lines import LineWriter, missed_line, token_lines
from reflecto.phone.markup import read_html
from reflecto.phone.muting import HOUR, MINUTES_15, Until, tomorrow
from reflecto.phone.question_lines import hang, question_lines
from reflecto.phone.state import OpenEmergency, PhoneState, Question
from reflecto.phone.view import View, pages_of
from reflecto.phone.wishes import Acknowledge, Mute, Refuse, RefuseAll, Silence, TapOn, Wish
from reflecto.terminal.columns import clip
from reflecto.terminal.live_line import LiveLine
from reflecto.terminal.times import duration

_TITLE_COLUMNS: Final = 24  # of an emergency in the status line
_MISSED_SECONDS: Final = 1.0  # after the last missed question they are counted


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
        self._view: View | None = None  # the question that was printed last as the one in front
        self._latest: str | None = None  # the question that nothing was printed below
        self._rings: dict[str, float] = {}  # what sounds, until when by `monotonic`; emergencies too
        self._emergencies: tuple[OpenEmergency, ...] = ()
        self._entry: Entry | None = None
        self._comment = ""  # typed for the question in front, and not sent yet
        self._missed: tuple[int, float] = (0, 0.0)  # how many, and when the last one came
        self._muted: list[effects.Muted] = []

    def show(self, effect: Effect) -> None:
        """Print the lines that tell of this effect."""
        if isinstance(effect, effects.TokenShown):
            self._print(token_lines(effect))
            return
        if isinstance(effect, effects.Opened):
            self._show_question(effect)
            return
        if not isinstance(effect, effects.AlarmRang):  # the bell and the live line tell of it
            self._print(self._writer.describe(effect, self._now(), self._line.columns()))
        match effect:
            case effects.Rang() | effects.AlarmRang():
                self._rings[effect.id] = self._monotonic() + effect.duration
            case effects.RingStopped() | effects.AlarmEnded() | effects.Acknowledging():
                self._rings.pop(effect.id, None)
            case effects.Missed():
                self._missed = (self._missed[0] + 1, self._monotonic())
            case effects.Muted():
                self._muted = [each for each in self._muted if each.token_id != effect.token_id]
                self._muted += [effect] if effect.until is not None else []
            case _:
                pass

    def refresh(self, state: PhoneState, now: float) -> None:
        """Catch up with what is open, and redraw the live line. `now` is Unix seconds by the server's clock.

        It is called once a second: that is the rhythm of the bell.
        """
        self._ahead_seconds = now - self._clock()
        self._open = state.open_questions()
        self._emergencies = tuple(each for each in state.emergencies if not each.acknowledged)
        before = self._focus.current
        self._focus = follow(self._focus, self._open_ids(), self._monotonic())
        if self._focus.current != before:
            self._leave_entry()
            if self.takes_keys and self._focus.current != self._latest:
                self._print_front()
        count, came_at = self._missed
        if count and self._monotonic() - came_at >= _MISSED_SECONDS:
            self._missed = (0, 0.0)
            self._print(missed_line(count))
        if self._is_ringing():
            self._line.ring()
        self._draw()

    def press(self, chunk: bytes) -> Wish | None:
        """Return what the keys just read ask for; what is typed and shown until then is done here."""
        if self._entry is None or self._emergencies or self._is_ringing():
            wish = self._press_key(read_key(chunk))
            if chunk == ESCAPE:
                self._leave_entry()
        else:
            wish = self._type(self._entry, chunk.decode("utf-8", "ignore"))
        if wish is not None:
            self._leave_entry()
        self._draw()
        return wish

    def close(self) -> None:
        """Take the live line away."""
        self._line.draw("")

    def _press_key(self, key: Key | None) -> Wish | None:
        if key == "acknowledge" and self._emergencies:
            return Acknowledge(self._emergencies[0].id)
        if self._is_ringing():
            # Whatever the key: who reaches for a ringing phone answers nothing with it.
            emergencies = {each.id for each in self._emergencies}
            stopped = tuple(ring_id for ring_id in self._rings if ring_id not in emergencies)
            self._rings.clear()
            return Silence(stopped)
        if key == "quit":
            return "quit"
        if key == "help":
            self._print(list(statuses.HELP))
        elif key == "unmute" and self._muted:
            last = self._muted[-1]
            return Mute(last.token_id, last.source, None)
        front = self._front()
        return None if key is None or front is None else self._press_on(front, key)

    def _press_on(self, front: Question, key: Key) -> Wish | None:
        """Return what a key asks for, with this question in front."""
        match key:
            case "next":
                self._leave_entry()
                self._focus = switch(self._focus, self._open_ids())
                self._print_front()
            case "more":
                self._turn_page(front)
            case "comment" if front.takes_comment:
                self._entry = WordEntry()
            case "refuse":
                self._entry = RefuseMenu()
            case "mute" if front.token_id:
                self._entry = MuteMenu()
            case _:
                index = chosen(self._focus, key, len(front.choices), self._monotonic())
                return None if index is None else self._answer(front, index)
        return None

    def _answer(self, front: Question, index: int) -> TapOn | None:
        """Return the answer, unless the question was not seen whole, or its first choice wants more than a key."""
        if not self._is_in_view(front):
            self._turn_page(front)
            return None
        if index == 0 and front.confirm == "number":
            self._entry = NumberEntry()
            return None
        if index == 0 and front.confirm == "hold":
            self._entry = HoldEntry(self._monotonic())
            return None
        return TapOn(front.id, index, comment=self._comment)

    def _type(self, entry: Entry, text: str) -> Wish | None:
        """Return what was asked for once the entry is complete; a key that is none of its own leaves it."""
        front = self._front()
        if front is None or not text:
            self._leave_entry()
            return None
        self._entry, done = entry.typed(text, self._monotonic())
        match done:
            case NumberTyped(digits):
                return self._first_choice(front, digits)
            case WordTyped(said):
                self._take_comment(front, said)
            case MuteChosen(key) if front.token_id:
                return Mute(front.token_id, front.source, self._until(key))
            case "really":
                return self._first_choice(front)
            case "refuse":
                return Refuse(front.id)
            case "refuse all" if front.token_id:
                return RefuseAll(front.token_id)
            case _:
                pass
        return None

    def _first_choice(self, front: Question, number: str = "") -> TapOn | None:
        """Return the first choice, now that all was typed for it; not if the question has scrolled away meanwhile."""
        if self._is_in_view(front):
            return TapOn(front.id, 0, number=number, comment=self._comment)
        self._turn_page(front)
        return None

    def _take_comment(self, front: Question, said: str) -> None:
        self._comment = said
        self._print(
            [*hang("   With the words: ", visible(said), self._line.columns()), "   Now answer; Esc drops them."]
        )
        if not self._is_in_view(front):
            self._turn_page(front)

    def _until(self, key: str) -> Until:
        now = self._now()
        untils: dict[str, Until] = {"1": int(now) + MINUTES_15, "2": int(now) + HOUR, "3": tomorrow(now)}
        return untils.get(key, "forever")

    def _leave_entry(self) -> None:
        self._entry = None
        self._comment = ""

    def _show_question(self, opened: effects.Opened) -> None:
        if self._focus.current is None:
            self._show_page(opened)
            return
        columns = self._line.columns()
        lines = question_lines(opened, self._writer.number(opened.id), self._now(), columns)
        if not self.takes_keys:
            self._print(lines.whole())
            return
        front, this = self._writer.number(self._focus.current), self._writer.number(opened.id)
        details = [f"   (with {len(lines.details)} lines of details)"] if lines.details else []
        told = hang("   ", f"The keys still answer {front}; Tab goes to {this}.", columns)
        self._print([*lines.asked, *details, *lines.choices, *told])

    def _show_page(self, opened: effects.Opened) -> None:
        """Print the question from its beginning, as much of it as fits on the screen."""
        columns, rows = self._line.columns(), self._line.rows() if self.takes_keys else None
        lines = question_lines(opened, self._writer.number(opened.id), self._now(), columns)
        view = View(opened.id, pages_of(lines, rows), columns, rows)
        self._view = None  # what was in front is no more
        self._print(view.next_page())
        view.printed(view.pages[0])
        self._view, self._latest = view, opened.id

    def _print_front(self) -> None:
        front = self._front()
        if front is not None:
            self._show_page(effects.Opened.of(front))

    def _turn_page(self, front: Question) -> None:
        """Show the next page of the question; its beginning, where the screen has changed since."""
        view = self._view
        if view is None or view.question_id != front.id or view.columns != self._line.columns():
            self._print_front()
        else:
            self._print(view.next_page())
            self._latest = front.id
        self._focus = guard(self._focus, front.id, self._monotonic())

    def _is_in_view(self, front: Question) -> bool:
        view = self._view
        if view is None or view.question_id != front.id:
            return False
        return view.is_in_view(self._line.columns(), self._line.rows())

    def _print(self, lines: Sequence[str]) -> None:
        self._line.print(list(lines))
        self._latest = None
        if self._view is not None:
            self._view.printed(lines)

    def _is_ringing(self) -> bool:
        self._rings = {ring_id: until for ring_id, until in self._rings.items() if self._monotonic() < until}
        return bool(self._rings)

    def _open_ids(self) -> list[str]:
        return [question.id for question in self._open]

    def _front(self) -> Question | None:
        return next((question for question in self._open if question.id == self._focus.current), None)

    def _now(self) -> float:
        return self._clock() + self._ahead_seconds

    def _draw(self) -> None:
        self._line.draw(statuses.fitting(self._status(), self._line.columns()))

    def _status(self) -> list[str]:
        if self._emergencies:
            return self._emergency_status(self._emergencies[0])
        if self._is_ringing():
            left = duration(max(self._rings.values()) - self._monotonic())
            return [f"Ringing, {left} left" + ("; any key stops it" if self.takes_keys else "")]
        front = self._front()
        if front is None:
            return ["Waiting for questions" + ("; q quits" if self.takes_keys else "")]
        number, left = self._writer.number(front.id), duration(front.expires_at - self._now())
        return self._question_status(front, number, left) if self.takes_keys else [f"{number}: {left} left"]

    def _question_status(self, front: Question, number: str, left: str) -> list[str]:
        match self._entry:
            case NumberEntry():
                return [f"{number}: {self._entry.status()}", self._entry.status()]
            case WordEntry():
                return [self._entry.status(self._line.columns())]
            case HoldEntry():
                return statuses.hold_status(front.choices[0], number)
            case RefuseMenu():
                count = sum(each.token_id == front.token_id for each in self._open)
                return statuses.refuse_status(front.source, number, count)
            case MuteMenu():
                return statuses.mute_status(front.source)
            case _:
                pass
        if self._view is not None and self._view.question_id == front.id and self._view.lines_left:
            return statuses.unread_status(number, left, self._view.lines_left)
        if not self._is_in_view(front):
            return statuses.hidden_status(number, left)
        return statuses.question_status(effects.Opened.of(front), number, left, waiting=len(self._open))

    def _emergency_status(self, emergency: OpenEmergency) -> list[str]:
        which = ""
        if len(self._emergencies) > 1:  # the key ends only one: say which
            text = emergency.title or (read_html(emergency.message).text if emergency.html else emergency.message)
            which = f" 1 of {len(self._emergencies)}, {clip(visible(' '.join(text.split())), _TITLE_COLUMNS)},"
        left = duration(emergency.expires_at - self._now())
        status = f"Emergency{which} of {visible(emergency.source)}, {left} left"
        if not self.takes_keys:
            return [status]
        is_ringing = self._is_ringing()
        silences = f"; any other key silences {'all' if which else 'it'} here" if is_ringing else ""
        return [
            f"{status}; a acknowledges {'this one' if which else 'it'} everywhere{silences}",
            f"Emergency, {left}: a ends it" + ("; others: quiet" if is_ringing else ""),
        ]
