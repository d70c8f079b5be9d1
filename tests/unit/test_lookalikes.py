"""Labels that look the same, by the confusable characters of Unicode."""

import pytest

from reflecto.core.rules.lookalikes import are_apart, is_taken, skeleton_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Approve", "\u0410pprove"),  # Cyrillic A
        ("paypal", "\u0440\u0430ypal"),
        ("Deny", "De\u0578y"),  # Armenian vo
        ("Delete l", "Delete I"),
        ("Keep 10", "Keep lO"),
        ("modern", "modem"),
        ("Ship it", "\U0001d412hip it"),  # a mathematical S
        ("OK", "\uff2f\uff2b"),  # full width
        ("caf\u00e9", "cafe\u0301"),
        ("Yes", "Y\u200bes"),
        ("Yes", " Yes\u00a0"),
        ("Nein", "N\u0435\u0456n"),
        ("\u05d0\u05dc\u05e3", "\u2135\u05dc\u05e3"),  # the symbol alef
    ],
)
def test_what_looks_the_same_has_one_skeleton(one: str, other: str):
    assert one != other
    assert skeleton_of(one) == skeleton_of(other)
    assert not are_apart([one, "Something else", other])
    assert is_taken(one, [other, "CI"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Approve", "Deny"),
        ("Approve", "approve"),
        ("Yes", "Yes!"),
        ("\u042f", "R"),
        ("\u00e9", "e"),
        ("Prod 1", "Prod 2"),
        ("\u627f\u8a8d", "\u62d2\u5426"),
        ("\u0646\u0639\u0645", "\u0644\u0627"),
        ("\U0001f44d", "\U0001f44e"),
    ],
)
def test_what_looks_different_has_two(one: str, other: str):
    assert skeleton_of(one) != skeleton_of(other)
    assert are_apart([one, other])
    assert not is_taken(one, [other])


# Of the standard's text and its file, version 17.0.0: single characters, some that stand for several, marks.
@pytest.mark.parametrize(
    ("text", "skeleton"),
    [
        ("m", "rn"),
        ("0", "O"),
        ("1", "l"),
        ("I", "l"),
        ("|", "l"),
        ("\u0430", "a"),
        ("\u00e6", "ae"),
        ("\u222d", "\u0283\u0283\u0283"),
        ("\u05ad", "\u0596"),
        ("\u0391\u0392\u0393", "AB\u0393"),
        ("\u00e5", "a\u030a"),
    ],
)
def test_a_skeleton_is_the_one_of_the_standard(text: str, skeleton: str):
    assert skeleton_of(text) == skeleton


def test_nobody_has_a_name_of_nobody():
    assert not is_taken("CI", [])
