"""Rolling windows against a plain list of instants, and monthly counts against what may come between."""

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.core.rules import windows
from reflecto.core.rules.windows import RollingWindow
from reflecto.store.memory.monthly_counts import MonthlyCounts

AUGUST = 1_754_800_000.0
SEPTEMBER = 1_756_684_800.0
LIMIT, WINDOW = 3, 60

STEPS = st.lists(st.tuples(st.floats(0, 40), st.sampled_from(["add", "take back", "look"])), max_size=60)


@given(STEPS)
def test_a_window_counts_what_happened_in_the_seconds_before_and_nothing_else(steps: list[tuple[float, str]]):
    window = RollingWindow(LIMIT, WINDOW)
    counted: list[int] = []
    now = AUGUST
    for ahead, what in steps:
        now += ahead
        if what == "add":
            window.add("key", now)
            counted.append(int(now))
        elif what == "take back" and counted:
            window.take_back("key", counted.pop())
        live = [second for second in counted if second > now - WINDOW]
        assert window.remaining("key", now) == max(0, LIMIT - len(live))
        if live:
            assert window.reset_at("key", now) == min(live) + WINDOW
            assert window.reset_at("key", now) > now
        assert window.remaining("another", now) == LIMIT


def test_a_window_remembers_so_many_keys_and_forgets_the_longest_quiet(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(windows, "KEYS_MAX", 100)
    window = RollingWindow(1, WINDOW)
    window.add("first", AUGUST)
    window.add("second", AUGUST)
    window.add("first", AUGUST + 1)
    for number in range(99):
        window.add(str(number), AUGUST + 2)
    assert window.remaining("first", AUGUST + 2) == 0
    assert window.remaining("second", AUGUST + 2) == 1


class SlowStore:
    """Adds counts when the test lets it."""

    def __init__(self) -> None:
        self.written: dict[str, dict[str, int]] = {}
        self.go, self.asked = asyncio.Event(), asyncio.Event()
        self.fails = False

    async def load_monthly_counts(self, month: str) -> dict[str, int]:
        return dict(self.written.get(month, {}))

    async def add_monthly_counts(self, month: str, counts: Mapping[str, int]) -> None:
        self.asked.set()
        await self.go.wait()
        if self.fails:
            raise OSError
        kept = self.written.setdefault(month, {})
        for token_id, count in counts.items():
            kept[token_id] = kept.get(token_id, 0) + count


async def test_what_is_counted_while_a_write_is_under_way_is_written_the_next_time():
    store, counts = SlowStore(), MonthlyCounts(10)
    counts.add("token", AUGUST)
    writing = asyncio.create_task(counts.flush(store, AUGUST))  # type: ignore[arg-type]
    await store.asked.wait()
    counts.add("token", AUGUST)
    store.go.set()
    await writing
    assert store.written == {"2025-08": {"token": 1}}
    await counts.flush(store, AUGUST)  # type: ignore[arg-type]
    assert store.written == {"2025-08": {"token": 2}}


async def test_a_write_that_failed_is_tried_again():
    store, counts = SlowStore(), MonthlyCounts(10)
    store.go.set()
    store.fails = True
    counts.add("token", AUGUST)
    try:
        await counts.flush(store, AUGUST)  # type: ignore[arg-type]
    except OSError:
        store.fails = False
    await counts.flush(store, AUGUST)  # type: ignore[arg-type]
    assert store.written == {"2025-08": {"token": 1}}


def test_a_refund_of_last_month_takes_nothing_from_this_one():
    counts = MonthlyCounts(10)
    counts.add("token", AUGUST)
    counts.add("token", SEPTEMBER)
    counts.take_back("token", AUGUST)
    assert counts.remaining("token", SEPTEMBER) == 9
    counts.take_back("token", SEPTEMBER)
    counts.take_back("token", SEPTEMBER)
    assert counts.remaining("token", SEPTEMBER) == 10


def test_a_full_window_is_empty_once_the_clock_was_put_back_and_goes_on_from_there():
    window = RollingWindow(LIMIT, WINDOW)
    for _ in range(LIMIT):
        window.add("key", AUGUST + 3_600)
    assert window.remaining("key", AUGUST) == LIMIT
    window.take_back("key", AUGUST + 3_600)
    window.add("key", AUGUST)
    assert window.remaining("key", AUGUST) == LIMIT - 1
    assert window.reset_at("key", AUGUST) == AUGUST + WINDOW
