"""Text from others on a terminal: nothing hidden, nothing moved, nothing cut."""

# ruff: noqa: RUF001 -- the angle quotes are the marks that `visible` sets

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.contract.visibility import visible
from reflecto.terminal.columns import cell_width, clip, wrap
from reflecto.terminal.times import duration


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Deploy?", "Deploy?"),
        ("Überweisen an 山田?", "Überweisen an 山田?"),
        ("pay \u202e001$", "pay ‹U+202E›001$"),
        ("a\u200bb", "a‹U+200B›b"),
        ("\x1b[2Jgone", "‹U+001B›[2Jgone"),
        ("a\rb\tc\x00", "a‹U+000D›b‹U+0009›c‹U+0000›"),
        ("\x9b31m", "‹U+009B›31m"),
        ("a\u2028b", "a‹U+2028›b"),
        ("\u3164", "‹U+3164›"),
        ("\u2066x\u2069", "‹U+2066›x‹U+2069›"),
        ("tag \U000e0041", "tag ‹U+E0041›"),
        ("x\ufe0f", "x‹U+FE0F›"),
        ("a\u200db", "a‹U+200D›b"),
        ("no\u00a0break\u3000", "no break "),
        (
            "Ship it \u2764\ufe0f \U0001f469\u200d\U0001f4bb \U0001f44d\U0001f3fd",
            "Ship it \u2764\ufe0f \U0001f469\u200d\U0001f4bb \U0001f44d\U0001f3fd",
        ),
        ("one\ntwo", "one‹U+000A›two"),
    ],
)
def test_hidden_characters_are_written_out(text: str, shown: str):
    assert visible(text) == shown


def test_line_breaks_stay_where_lines_are_kept():
    assert visible("one\ntwo\r\nthree\rfour", keep_lines=True) == "one\ntwo\nthree‹U+000D›four"


@given(st.text(st.characters(codec=None)))
def test_what_is_shown_holds_nothing_a_terminal_obeys(text: str):
    shown = visible(text, keep_lines=True)

    obeyed = {"Cc", "Cs", "Zl", "Zp", "Co", "Cn"}
    assert not [char for char in shown if unicodedata.category(char) in obeyed and char != "\n"]
    assert not [char for char in shown if unicodedata.category(char) == "Cf" and char != "\u200d"]
    shown.encode()


def test_every_character_of_unicode_is_either_shown_or_written_out():
    # All planes that have characters; of the others, all unassigned or all private, some.
    codes = [*range(0x40000), *range(0x40000, 0xE0000, 257), *range(0xE0000, 0xF0000), *range(0xF0000, 0x110000, 257)]
    codes.remove(ord("a"))
    each = visible("a".join(map(chr, codes))).split("a")  # at once, each between two letters: a million calls take long
    seen = dict(zip(codes, each, strict=True))
    written_out = {code for code, shown in seen.items() if shown == f"‹U+{code:04X}›"}

    assert {shown for code, shown in seen.items() if code not in written_out and shown != chr(code)} == {" "}

    for code in (0x07, 0x1B, 0x7F, 0x85, 0xAD, 0x061C, 0x200E, 0x202A, 0x2060, 0xFEFF, 0xFFF9, 0x1D173, 0xE0001):
        assert code in written_out
    assert not set(range(0x20, 0x7F)) & written_out


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(2, 40))
def test_wrapping_keeps_every_character_and_the_width(text: str, columns: int):
    shown = visible(text, keep_lines=True)

    lines = wrap(shown, columns)

    assert "".join(lines) == shown.replace("\n", "")
    assert all(cell_width(line) <= columns for line in lines)


def test_lines_break_between_words_where_they_can():
    assert wrap("Deploy the new version?", 12) == ["Deploy the ", "new version?"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("山田太郎", 4) == ["山田", "太郎"]
    assert wrap("one\n\ntwo", None) == ["one", "", "two"]


def test_the_status_line_is_clipped_by_columns_not_characters():
    assert clip("山田太郎", 5) == "山田"
    assert clip("abc", 0) == ""


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (600, "10:00"),
        (59.2, "1:00"),
        (9.01, "0:10"),
        (1, "0:01"),
        (0, "0:00"),
        (-5, "0:00"),
        (3600, "1:00:00"),
        (86_400, "24:00:00"),
    ],
)
def test_a_time_span_counts_down_and_reads_zero_only_when_it_is_over(seconds: float, shown: str):
    assert duration(seconds) == shown
