"""Which failures are tried again, and when."""

import pytest

from reflecto import ApiError, Conflict, NotFound, ReflectoError, ServerError, TooManyRequests, Unreachable
from reflecto.client.errors import ForeignReply
from reflecto.client.retry import RetryRules

RULES = RetryRules(base_seconds=0.5, cap_seconds=10, jitter=lambda: 1.0)


def test_the_ceiling_doubles_with_each_failure_up_to_the_cap():
    delays = [RULES.delay_seconds(Unreachable("lost"), attempt, is_waiting=False) for attempt in range(7)]
    assert delays == [0.5, 1, 2, 4, 8, 10, 10]


def test_the_pause_is_a_random_part_of_the_ceiling():
    parts = iter([0.0, 0.25, 0.75])
    rules = RetryRules(base_seconds=1, jitter=lambda: next(parts))
    assert [rules.delay_seconds(Unreachable("lost"), 2, is_waiting=False) for _ in range(3)] == [0, 1, 3]


def test_after_any_number_of_failures_the_cap_holds():
    assert RULES.delay_seconds(Unreachable("lost"), 100_000, is_waiting=True) == 10


def test_the_jitter_comes_on_top_of_retry_after():
    error = TooManyRequests("slow down", code="rate_limit_exceeded", status=429, retry_after=30)
    assert RULES.delay_seconds(error, 0, is_waiting=False) == 30.5


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("not trusted", passing=False),
        ApiError("teapot", code="http_418", status=418),
        Conflict("no phone", code="no_phone_device", status=409),
        TooManyRequests("ten", code="too_many_pending", status=429, retry_after=1),
        NotFound("not found", code="not_found", status=404),
        ReflectoError("else"),
    ],
    ids=str,
)
def test_what_waiting_does_not_mend_is_not_tried_again(error: ReflectoError):
    assert RULES.delay_seconds(error, 0, is_waiting=True) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_a_proxy_s_refusal_passes_only_while_a_stored_question_is_waited_for(status: int):
    error = ServerError("not from Reflecto", code=f"http_{status}", status=status)
    assert RULES.delay_seconds(error, 0, is_waiting=True) == 0.5
    assert RULES.delay_seconds(error, 0, is_waiting=False) is None


def test_a_sign_in_page_passes_only_while_a_stored_question_is_waited_for():
    error = ForeignReply("a page")
    assert RULES.delay_seconds(error, 0, is_waiting=True) == 0.5
    assert RULES.delay_seconds(error, 0, is_waiting=False) is None


@pytest.mark.parametrize("status", [500, 502, 503, 504, 522])
def test_every_5xx_passes(status: int):
    assert RULES.delay_seconds(ServerError("failed", status=status), 0, is_waiting=False) == 0.5
