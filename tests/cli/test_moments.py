"""Moments as people write them, by this machine's clock."""

import time
from collections.abc import Iterator

import click
import pytest

from reflecto.cli.times import unix_seconds

NOON = 1_754_820_000  # 2025-08-10 12:00 in Berlin, summer time


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1754820000", NOON),
        ("2025-08-10T12:00:00+02:00", NOON),
        ("2025-08-10t10:00:00z", NOON),
        ("2025-08-10T10:00Z", NOON),
        ("2025-08-10 06:00:00-04:00", NOON),
        ("2025-08-10 12:00", NOON),
        ("2025-08-10T12:00:30", NOON + 30),
        ("2025-12-10 12:00", NOON + 122 * 86_400 + 3_600),  # winter time
        ("18:30", NOON + 6 * 3_600 + 1_800),
        ("18:30:15", NOON + 6 * 3_600 + 1_815),
        ("9:30", NOON + 86_400 - 2 * 3_600 - 1_800),  # tomorrow
        ("12:00", NOON + 86_400),  # this very moment is over
        (" 18:30 ", NOON + 6 * 3_600 + 1_800),
    ],
)
def test_a_moment_is_read(text: str, moment: int):
    assert unix_seconds(text, NOON) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "18",
        "25:00",
        "18:61",
        "2025-02-30 12:00",
        "2025-08-10",
        "2025-08-10T12:00+0200",
        "12345",
        "-5",
        "1e9",
    ],
)
def test_anything_else_is_refused(text: str):
    with pytest.raises(click.UsageError, match="is not a moment such as"):
        unix_seconds(text, NOON)


@pytest.mark.parametrize("text", ["2025-10-26 02:30", "2026-03-29 02:30"])  # twice, and never
def test_what_the_clock_shows_twice_or_never_is_refused(text: str):
    with pytest.raises(click.UsageError, match="the clocks are changed then"):
        unix_seconds(text, NOON)


def test_the_next_half_past_two_on_the_night_of_the_change_is_refused_and_the_one_after_is_not():
    evening_before = 1_761_422_400  # 2025-10-25 22:00
    with pytest.raises(click.UsageError, match="the clocks are changed then"):
        unix_seconds("2:30", evening_before)
    assert unix_seconds("2:30", evening_before + 86_400) == evening_before + 86_400 + 5 * 3_600 + 1_800


def test_an_offset_settles_what_the_clock_shows_twice():
    assert unix_seconds("2025-10-26T02:30:00+02:00", NOON) + 3_600 == unix_seconds("2025-10-26T02:30:00+01:00", NOON)
