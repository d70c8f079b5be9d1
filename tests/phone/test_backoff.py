"""Delays between tries: doubling, jittered, bounded, polite."""

from hypothesis import given
from hypothesis import strategies as st

from reflecto.phone.backoff import ASKED_MAX_SECONDS, MAX_SECONDS, Backoff


def latest(low: float, high: float) -> float:
    assert low == high / 2
    return high


def test_delays_double_from_half_a_second_to_half_a_minute():
    backoff = Backoff(latest)

    assert [backoff.next_delay() for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_reset_starts_over():
    backoff = Backoff(latest)
    for _ in range(5):
        backoff.next_delay()

    backoff.reset()

    assert backoff.next_delay() == 0.5


def test_the_server_s_wish_is_kept_but_not_beyond_five_minutes():
    assert Backoff(latest).next_delay(20.0) == 20.0
    assert Backoff(latest).next_delay(86_400.0) == ASKED_MAX_SECONDS == 300.0


@given(st.integers(0, 2000))
def test_each_delay_is_drawn_from_the_upper_half_of_its_step(failures: int):
    backoff = Backoff()
    for _ in range(failures):
        backoff.next_delay()

    ceiling = min(MAX_SECONDS, 0.5 * 2 ** min(failures, 20))
    assert ceiling / 2 <= backoff.next_delay() <= ceiling
