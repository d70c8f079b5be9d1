"""A ring in the terminal: the bell once a second, until its time is over or a key is pressed."""

import io

import msgspec
import pytest

from reflecto.phone import effects
from reflecto.phone.console import Console
from reflecto.phone.wishes import Acknowledge, Silence, TapOn
from reflecto.terminal.live_line import LiveLine
from tests.phone.builders import NOW, emergency, id_of, phone, question
from tests.phone.handset import Clock


class Screen(io.StringIO):
    """A terminal without a size."""

    def isatty(self) -> bool:
        return True


class Ringing:
    """A console whose seconds pass when the test says so."""

    def __init__(self, screen: io.StringIO, *, takes_keys: bool = True) -> None:
        self.screen = screen
        self.time = Clock(100.0)
        self.state = phone(question(1))
        self.console = Console(LiveLine(screen), takes_keys=takes_keys, clock=Clock(NOW), monotonic=self.time)
        self.console.show(effects.Opened.of(question(1)))
        self.console.refresh(self.state, NOW)
        self.time.now += 1

    def ring(self, seconds: int = 5, number: int = 1) -> None:
        self.console.show(effects.Rang(id=id_of("msg", number), source="CI", duration=seconds))
        self.console.refresh(self.state, NOW)

    def second(self, times: int = 1) -> None:
        for _ in range(times):
            self.time.now += 1
            self.console.refresh(self.state, NOW)

    @property
    def bells(self) -> int:
        return self.screen.getvalue().count("\a")


@pytest.fixture
def ringing(monkeypatch: pytest.MonkeyPatch) -> Ringing:
    monkeypatch.setenv("TERM", "xterm")
    return Ringing(Screen())


def test_the_bell_sounds_at_once_and_then_every_second_for_the_duration(ringing: Ringing):
    ringing.ring(5)
    assert ringing.bells == 1
    ringing.second(4)
    assert ringing.bells == 5
    ringing.second(10)
    assert ringing.bells == 5
    assert "Ringing, 0:05 left; any key stops it" in ringing.screen.getvalue()
    assert ringing.screen.getvalue().endswith("1 Approve, 2 Deny; ?: more keys")


@pytest.mark.parametrize("key", [b"1", b"q", b"\t", b"x", b"\x1b[C", b"12\n"])
def test_any_key_stops_it_and_means_nothing_else(ringing: Ringing, key: bytes):
    ringing.ring(60)

    assert ringing.console.press(key) == Silence((id_of("msg", 1),))

    ringing.second(5)
    assert ringing.bells == 1
    assert ringing.console.press(b"1") == TapOn(question(1).id, 0)


def test_two_rings_at_once_last_as_long_as_the_longer_one(ringing: Ringing):
    ringing.ring(9, 1)
    ringing.ring(2, 2)
    ringing.second(8)
    assert ringing.bells == 10  # one more for the second ring's own beginning
    ringing.second(3)
    assert ringing.bells == 10


def test_on_paper_there_is_no_bell():
    ringing = Ringing(io.StringIO(), takes_keys=False)
    ringing.ring(5)
    ringing.second(3)
    assert ringing.bells == 0
    assert "CI rings for 5 s." in ringing.screen.getvalue()


def test_a_ring_stopped_elsewhere_is_silent_here(ringing: Ringing):
    ringing.ring(60, 1)
    ringing.ring(60, 2)
    ringing.console.show(effects.RingStopped(id=id_of("msg", 1), by="Pixel"))
    ringing.second()
    assert ringing.bells == 3  # the other still sounds
    ringing.console.show(effects.RingStopped(id=id_of("msg", 2), by="Pixel"))
    ringing.second(5)
    assert ringing.bells == 3
    assert "The ring was stopped on Pixel." in ringing.screen.getvalue()


@pytest.mark.parametrize("key", [b"a", b"A"])
def test_one_key_acknowledges_an_emergency_and_the_others_silence_it_here(ringing: Ringing, key: bytes):
    going_on = emergency()
    ringing.state = phone(question(1), emergencies=(going_on,))
    ringing.console.show(effects.Alarmed.of(going_on))
    ringing.console.show(effects.AlarmRang(id=going_on.id, duration=30))
    ringing.console.refresh(ringing.state, NOW)
    assert "a acknowledges it everywhere; any other key silences it here" in ringing.screen.getvalue()
    assert ringing.console.press(b"1") == Silence(())
    assert ringing.console.press(key) == Acknowledge(going_on.id)
    assert ringing.console.press(b"1") == TapOn(question(1).id, 0)


def test_with_two_emergencies_the_line_names_the_one_that_the_key_acknowledges(ringing: Ringing):
    first = emergency(id=id_of("msg", 8), message="<b>Disk</b>\nfull", html=True)
    second = emergency(title="Fire in the machine room, second floor")
    ringing.state = phone(emergencies=(first, second))
    for each in (first, second):
        ringing.console.show(effects.AlarmRang(id=each.id, duration=30))
    ringing.console.refresh(ringing.state, NOW)
    shown = ringing.screen.getvalue()
    assert "Emergency 1 of 2, Disk full, of CI, 1:00:00 left; a acknowledges this one everywhere" in shown
    assert "any other key silences all here" in shown
    assert ringing.console.press(b"a") == Acknowledge(first.id)
    ringing.state = phone(emergencies=(msgspec.structs.replace(first, acknowledged=True), second))
    ringing.console.refresh(ringing.state, NOW)
    assert ringing.screen.getvalue().split("Emergency")[-1].startswith(" of CI, 1:00:00 left; a ")
    assert ringing.console.press(b"a") == Acknowledge(second.id)
