"""What a process tells itself, and what it hears of another."""

from collections.abc import Collection

import pytest

from reflecto.core.ports.wakeups import News
from reflecto.store.memory.presence import MemoryPresence
from reflecto.wake.hub import Hub
from tests.fakes import FakeClock


class Ears:
    """A hub, and what it passes on."""

    def __init__(self) -> None:
        self.hub = Hub(FakeClock(), MemoryPresence())
        self.grown: list[Collection[str]] = []
        self.strangers: list[Collection[str]] = []
        self.cancelled: list[str] = []
        self.hub.when_grown(self.grown.append)
        self.hub.when_cancelled_elsewhere(self.strangers.append)


@pytest.fixture
def ears() -> Ears:
    return Ears()


def test_what_another_process_has_queued_it_pushes_itself(ears: Ears):
    ears.hub.hear(News(device_ids=["dev_1"]))
    assert ears.grown == []
    ears.hub.tell(News(device_ids=["dev_2"]))
    assert ears.grown == [["dev_2"]]


def test_a_call_that_is_not_held_here_is_passed_on_once_and_what_was_passed_on_stops(ears: Ears):
    with ears.hub.open_call("here", lambda: ears.cancelled.append("here")):
        ears.hub.tell(News(cancelled_calls=["here", "elsewhere"]))
        assert (ears.cancelled, ears.strangers) == (["here"], [["elsewhere"]])
        ears.hub.hear(News(cancelled_calls=["here", "nowhere"]))
    assert (ears.cancelled, ears.strangers) == (["here", "here"], [["elsewhere"]])
