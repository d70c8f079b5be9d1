"""The rules of a question's life, without any I/O: the table, and the instants."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reflecto.contract.ids import new_id
from reflecto.core.model import Interaction
from reflecto.core.rules.interactions import LIFECYCLE, is_retained, judge_answer, judge_cancel, status_at
from reflecto.core.rules.outcomes import Verdict
from tests.builders import NOW, make_device, make_interaction, make_tap, make_token

TOKEN: Final = make_token(new_id("own"))
PHONE: Final = make_device(TOKEN.owner_id)
PENDING: Final = make_interaction(TOKEN)
ANSWERED: Final = replace(PENDING, status="answered", ended_at=NOW + 10, tap=make_tap(PHONE, 1))
CANCELLED: Final = replace(PENDING, status="cancelled", ended_at=NOW + 10)

TETHERED: Final = replace(PENDING, tether=20, awaited_until=NOW + 50.5)
EXPIRES_FIRST: Final = replace(PENDING, tether=20, awaited_until=NOW + 580.0)

IN_TIME, AT_EXPIRY, LATER = NOW + 599.999, NOW + 600, NOW + 50_000


@pytest.mark.parametrize(
    ("interaction", "now", "status"),
    [
        (PENDING, NOW, "pending"),
        (PENDING, IN_TIME, "pending"),
        (PENDING, AT_EXPIRY, "expired"),
        (PENDING, LATER, "expired"),
        (ANSWERED, IN_TIME, "answered"),
        (ANSWERED, LATER, "answered"),
        (CANCELLED, IN_TIME, "cancelled"),
        (CANCELLED, LATER, "cancelled"),
        (TETHERED, NOW + 70.499, "pending"),
        (TETHERED, NOW + 70.5, "cancelled"),
        (TETHERED, LATER, "cancelled"),
        (EXPIRES_FIRST, IN_TIME, "pending"),
        (EXPIRES_FIRST, AT_EXPIRY, "expired"),
        (replace(ANSWERED, tether=20, awaited_until=float(NOW)), LATER, "answered"),
    ],
)
def test_the_status_at_an_instant(interaction: Interaction, now: float, status: str):
    assert status_at(interaction, now) == status


@pytest.mark.parametrize(
    ("interaction", "now", "tap", "cancel"),
    [
        (PENDING, IN_TIME, Verdict.ACCEPTED, Verdict.ACCEPTED),
        (PENDING, AT_EXPIRY, Verdict.CLOSED, Verdict.CLOSED),
        (ANSWERED, IN_TIME, Verdict.ALREADY_ANSWERED, Verdict.ALREADY_ANSWERED),
        (ANSWERED, LATER, Verdict.ALREADY_ANSWERED, Verdict.ALREADY_ANSWERED),
        (CANCELLED, IN_TIME, Verdict.CLOSED, Verdict.REPEATED),
        (CANCELLED, LATER, Verdict.CLOSED, Verdict.REPEATED),
        (TETHERED, NOW + 70.499, Verdict.ACCEPTED, Verdict.ACCEPTED),
        (TETHERED, NOW + 70.5, Verdict.CLOSED, Verdict.REPEATED),
        (EXPIRES_FIRST, AT_EXPIRY, Verdict.CLOSED, Verdict.CLOSED),
    ],
)
def test_what_a_tap_and_a_withdrawal_come_to(interaction: Interaction, now: float, tap: Verdict, cancel: Verdict):
    assert judge_answer(interaction, make_tap(make_device(TOKEN.owner_id), 0), now) is tap
    assert judge_cancel(interaction, now) is cancel


@pytest.mark.parametrize("now", [IN_TIME, AT_EXPIRY, LATER])
def test_only_the_same_device_with_the_same_choice_repeats_its_answer(now: float):
    assert judge_answer(ANSWERED, make_tap(PHONE, 1, answered_at=NOW + 99), now) is Verdict.REPEATED
    assert judge_answer(ANSWERED, make_tap(PHONE, 0), now) is Verdict.ALREADY_ANSWERED
    assert judge_answer(ANSWERED, make_tap(make_device(TOKEN.owner_id), 1), now) is Verdict.ALREADY_ANSWERED


def test_the_table_says_what_becomes_of_every_status():
    assert {status: set(row) for status, row in LIFECYCLE.items()} == {
        status: {"answer", "cancel"} for status in ("pending", "answered", "cancelled", "expired")
    }


@pytest.mark.parametrize(
    ("interaction", "ended_at"),
    [(PENDING, NOW + 600), (ANSWERED, NOW + 10), (CANCELLED, NOW + 10), (TETHERED, NOW + 70.5)],
)
def test_a_question_is_kept_for_24_hours_after_its_end_to_the_instant(interaction: Interaction, ended_at: float):
    assert is_retained(interaction, ended_at + 86_399.999)
    assert not is_retained(interaction, ended_at + 86_400)


@given(
    expires_in=st.integers(60, 86_400),
    ended_after=st.integers(0, 86_399),
    asked_after=st.floats(0, 86_400, exclude_max=True),
)
def test_whatever_a_repeat_may_find_can_still_be_read(expires_in: int, ended_after: int, asked_after: float):
    ended_at = NOW + min(ended_after, expires_in - 1)
    question = replace(CANCELLED, expires_at=NOW + expires_in, ended_at=ended_at)
    now = NOW + asked_after
    if now < question.expires_at:
        assert is_retained(question, now)
