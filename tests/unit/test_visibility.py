"""What a person sees of a text."""

import pytest

from reflecto.contract.visibility import seen_of


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Approve", "Approve\u200b"),  # zero-width space
        ("Approve", "\u2066Approve\u2069"),  # bidirectional isolates
        ("Approve", "Ap\u00adprove"),  # soft hyphen
        ("Approve", "Appro\ufe0fve"),  # variation selector
        ("Approve", "Approve\U000e0041"),  # tag
        ("Approve", "\u3164Approve\x07"),  # Hangul filler, bell
        ("Approve all", "Approve\u2003\tall "),
        ("Caf\u00e9", "Cafe\u200b\u0301"),
    ],
)
def test_texts_that_look_alike_are_seen_as_one(text: str, other: str):
    assert seen_of(text) == seen_of(other) != ""


@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "\u2800", "\u115f \u2029", "\ufe0f\u200d"])
def test_nothing_is_seen_of_blank_text(text: str):
    assert seen_of(text) == ""


@pytest.mark.parametrize(
    ("text", "other"), [("Approve", "approve"), ("Ja", "Nein"), ("\U0001f44d", "\U0001f44e"), ("\ue000", "\uf8ff")]
)
def test_what_looks_different_stays_different(text: str, other: str):
    assert "" != seen_of(text) != seen_of(other) != ""


def test_a_character_that_this_python_does_not_know_yet_may_be_one_to_see():
    assert seen_of("\U0001faff") != ""
