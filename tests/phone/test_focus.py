"""Which question the keys answer, and the guard against a mis-tap."""

import pytest

from reflecto.phone.focus import GUARD_SECONDS, Focus, Key, chosen, follow, read_key, switch

A, B, C = "int_a", "int_b", "int_c"


def test_the_oldest_open_question_is_in_front():
    assert follow(Focus(), [A, B], 10.0).current == A


def test_a_newcomer_does_not_take_the_front():
    focus = follow(Focus(), [A], 10.0)

    assert follow(focus, [A, B], 20.0).current == A


@pytest.mark.parametrize(("after_seconds", "taken"), [(0.0, None), (0.39, None), (GUARD_SECONDS, 0), (5.0, 0)])
def test_a_key_within_400_ms_of_the_question_s_appearance_is_ignored(after_seconds: float, taken: int | None):
    focus = follow(Focus(), [A], 10.0)

    assert chosen(focus, "1", 2, 10.0 + after_seconds) == taken


def test_the_guard_counts_from_the_first_appearance_not_from_each_redraw():
    focus = follow(Focus(), [A], 10.0)
    for tick in range(10):
        focus = follow(focus, [A], 10.0 + tick / 10)

    assert chosen(focus, "2", 2, 10.5) == 1


def test_a_question_that_comes_to_the_front_by_itself_is_guarded_anew():
    focus = follow(Focus(), [A, B], 10.0)

    focus = follow(focus, [B], 60.0)

    assert focus.current == B
    assert chosen(focus, "1", 2, 60.3) is None
    assert chosen(focus, "1", 2, 60.4) == 0


def test_switching_goes_round_and_does_not_lift_the_guard_of_a_newcomer():
    focus = follow(Focus(), [A, B, C], 10.0)
    assert [focus.current for focus in (switch(focus, [A, B, C]), switch(switch(focus, [A, B, C]), [A, B, C]))] == [
        B,
        C,
    ]
    assert switch(focus._replace(current=C), [A, B, C]).current == A

    newcomer = switch(follow(focus, [A, B, C, "int_d"], 20.0)._replace(current=C), [A, B, C, "int_d"])
    assert chosen(newcomer, "1", 2, 20.1) is None
    assert chosen(newcomer, "1", 2, 20.4) == 0


@pytest.mark.parametrize(("key", "count", "taken"), [("3", 2, None), ("3", 3, 2), ("4", 4, 3), ("next", 4, None)])
def test_only_the_keys_of_its_own_choices_answer_a_question(key: Key, count: int, taken: int | None):
    assert chosen(follow(Focus(), [A], 0.0), key, count, 1.0) == taken


def test_without_an_open_question_no_key_answers():
    assert chosen(follow(Focus(), [], 0.0), "1", 4, 9.0) is None
    assert switch(Focus(), []) == Focus()


@pytest.mark.parametrize(
    ("chunk", "key"),
    [
        (b"1", "1"),
        (b"4", "4"),
        (b"5", None),
        (b"\t", "next"),
        (b"n", "next"),
        (b"q", "quit"),
        (b"\x1b[1;5C", None),
        (b"\x1b", None),
        (b"11", None),
        (b"1\n", None),
        ("¹".encode(), None),
        (b"", None),
    ],
)
def test_a_paste_or_an_arrow_key_is_never_a_tap(chunk: bytes, key: Key | None):
    assert read_key(chunk) == key
