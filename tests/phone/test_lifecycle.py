"""A question's life: every pair of phase and happening, those in the table and those that change nothing."""

from typing import get_args

import pytest

from reflecto.phone.effects import Effect, Ended, Sending
from reflecto.phone.lifecycle import LIFECYCLE, Happening, Step, Verdict, end_overdue, judge, tap
from reflecto.phone.state import Phase, PhoneState
from tests.phone.builders import ANSWER, END, NOW, OTHER_PHONE, THIS_PHONE, id_of, phone, question

QUESTION_ID = id_of("int", 1)
PHASES: tuple[Phase, ...] = get_args(Phase)
HAPPENINGS: tuple[Happening, ...] = get_args(Happening)


def let_happen(state: PhoneState, happening: Happening) -> Step:
    match happening:
        case "tapped":
            return tap(state, QUESTION_ID, ANSWER)
        case "time_ran_out":
            return end_overdue(state, END)
        case "answered_here":
            return judge(state, Verdict(QUESTION_ID, "answered", 1, "This phone", THIS_PHONE))
        case "answered":
            return judge(state, Verdict(QUESTION_ID, "answered", 0, "Pixel", OTHER_PHONE))
        case "refused":
            return judge(state, Verdict(QUESTION_ID, "refused", code="not_found"))
        case _:
            return judge(state, Verdict(QUESTION_ID, happening))


def before(phase: Phase) -> PhoneState:
    return phone(question(answer=ANSWER if phase == "sending" else None))


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("happening", HAPPENINGS)
def test_a_question_moves_only_as_the_table_says(phase: Phase, happening: Happening):
    state = before(phase)

    after = let_happen(state, happening)

    expected = LIFECYCLE.get((phase, happening))
    if expected is None:
        assert after == Step(state)
    elif expected == "sending":
        assert after.state.questions == (question(answer=ANSWER),)
    else:
        assert after.state.questions == ()
        assert [effect.outcome for effect in after.effects if isinstance(effect, Ended)] == [expected]


@pytest.mark.parametrize(
    ("phase", "happening", "told"),
    [
        ("open", "tapped", Sending(id=QUESTION_ID, choice_index=1, choice="Deny")),
        ("open", "time_ran_out", Ended(id=QUESTION_ID, outcome="expired")),
        (
            "open",
            "answered",
            Ended(
                id=QUESTION_ID,
                outcome="answered_elsewhere",
                choice_index=0,
                choice="Approve",
                by="Pixel",
                by_device_id=OTHER_PHONE,
            ),
        ),
        ("open", "cancelled", Ended(id=QUESTION_ID, outcome="withdrawn")),
        ("sending", "accepted", Ended(id=QUESTION_ID, outcome="sent", choice_index=1, choice="Deny")),
        ("sending", "answered_here", Ended(id=QUESTION_ID, outcome="sent", choice_index=1, choice="Deny")),
        (
            "sending",
            "answered",
            Ended(
                id=QUESTION_ID,
                outcome="answered_elsewhere",
                choice_index=0,
                choice="Approve",
                by="Pixel",
                by_device_id=OTHER_PHONE,
                too_late=True,
            ),
        ),
        ("sending", "cancelled", Ended(id=QUESTION_ID, outcome="withdrawn", too_late=True)),
        ("sending", "expired", Ended(id=QUESTION_ID, outcome="expired", too_late=True)),
        ("sending", "refused", Ended(id=QUESTION_ID, outcome="not_recorded", too_late=True, detail="not_found")),
    ],
)
def test_the_owner_is_told_what_became_of_the_question(phase: Phase, happening: Happening, told: Effect):
    assert let_happen(before(phase), happening).effects == (told,)


def test_this_phones_earlier_answer_does_not_make_a_different_tap_count_as_sent():
    state = phone(question(answer=ANSWER))

    after = judge(state, Verdict(QUESTION_ID, "answered", 0, "This phone", THIS_PHONE))

    assert [(effect.outcome, effect.choice) for effect in after.effects if isinstance(effect, Ended)] == [
        ("answered_elsewhere", "Approve")
    ]


@pytest.mark.parametrize("index", [None, -1, 2, 2**40])
def test_a_winning_index_that_names_no_choice_is_told_without_a_label(index: int | None):
    after = judge(phone(question()), Verdict(QUESTION_ID, "answered", index, "Pixel", OTHER_PHONE))

    assert [effect.choice for effect in after.effects if isinstance(effect, Ended)] == [None]


def test_a_question_is_open_until_the_second_of_its_end_and_over_in_it():
    state = phone(question(1), question(2, expires_at=END + 1))

    assert end_overdue(state, END - 0.001) == Step(state)
    assert end_overdue(state, END).state.questions == (question(2, expires_at=END + 1),)


def test_the_server_s_word_on_one_question_leaves_the_others_as_they_are():
    state = phone(question(1), question(2), question(3, answer=ANSWER))

    after = judge(state, Verdict(id_of("int", 2), "cancelled"))

    assert after.state.questions == (question(1), question(3, answer=ANSWER))
    assert judge(after.state, Verdict(id_of("int", 2), "cancelled")) == Step(after.state)
    assert tap(after.state, id_of("int", 2), ANSWER) == Step(after.state)
    assert end_overdue(after.state, NOW) == Step(after.state)
