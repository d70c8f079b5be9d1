"""Lengths of time as people write them."""

import click
import pytest

from reflecto.cli.times import duration_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1d", 86_400),
        ("1d2h3m4s", 93_784),
        (" 10M ", 600),
        ("0", 0),
        ("000000000000060", 60),
    ],
)
def test_what_people_write_means_seconds(text: str, seconds: int):
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "10 m", "1.5h", "-5", "+5", "30m1h", "1h30", "10min", "٣", "1e3", "10m\n5"])
def test_anything_else_is_refused(text: str):
    with pytest.raises(click.BadParameter):
        duration_seconds(text)
