"""The clock of a server whose time is its database's."""

import asyncio
import logging

import pytest

from reflecto.core.clock import StoreClock

DATABASE_NOW = 1_800_000_000.0


class Hands:
    """A machine's clock and its steady one, moved by the test."""

    def __init__(self, machine: float = DATABASE_NOW, steady: float = 5_000.0) -> None:
        self.machine = machine
        self.steady = steady
        self.clock = StoreClock(lambda: self.machine, lambda: self.steady)

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.machine += seconds
        self.steady += seconds

    def set(self, now: float, round_trip: float = 0.0) -> None:
        """Tell the clock what the database says."""
        self.clock.set(now, self.steady - round_trip, self.steady)


@pytest.mark.parametrize("ahead", [-3_600, 0, 3_600])
def test_it_tells_the_databases_time_whatever_the_machine_says(ahead: int):
    hands = Hands(DATABASE_NOW + ahead)
    hands.set(DATABASE_NOW)
    assert hands.clock.now() == DATABASE_NOW
    hands.pass_by(12.5)
    assert hands.clock.now() == DATABASE_NOW + 12.5
    hands.machine += 7_200  # somebody sets it
    assert hands.clock.now() == DATABASE_NOW + 12.5


def test_the_time_is_what_it_was_in_the_middle_of_the_asking():
    hands = Hands()
    hands.set(DATABASE_NOW, round_trip=0.4)
    assert hands.clock.now() == DATABASE_NOW + 0.2


def test_it_never_goes_back():
    hands = Hands()
    hands.set(DATABASE_NOW)
    assert hands.clock.now() == DATABASE_NOW
    hands.set(DATABASE_NOW - 10)
    assert hands.clock.now() == DATABASE_NOW
    hands.pass_by(9)
    assert hands.clock.now() == DATABASE_NOW
    hands.pass_by(3)
    assert hands.clock.now() == DATABASE_NOW + 2


def test_a_machine_that_is_off_is_warned_of_once_until_it_was_right_again(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    hands = Hands(DATABASE_NOW + 0.9)
    hands.set(DATABASE_NOW)
    assert caplog.messages == []
    for ahead in (3_600, 3_601, 0, -2):
        hands.machine = DATABASE_NOW + ahead
        hands.set(DATABASE_NOW)
    assert [message[:46] for message in caplog.messages] == [
        "this machine's clock is 3600.0 s ahead of the ",
        "this machine's clock is 2.0 s behind the datab",
    ]


async def test_a_wait_ends_at_its_time_and_with_its_event():
    clock = StoreClock()
    event = asyncio.Event()
    await clock.wait(event, clock.now() + 0.01)
    event.set()
    await clock.wait(event, clock.now() + 3_600)
