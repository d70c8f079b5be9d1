"""The calls without any shell: what they request, how long they pause, and what they make of the clock."""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto import BrokenContract, Question, ReflectoError, Unreachable
from reflecto.client import flows
from reflecto.client.flows import GRACE_SECONDS, Outcome, Pause
from reflecto.client.protocol import HttpReply, HttpRequest
from reflecto.client.retry import RetryRules

RULES = RetryRules(jitter=lambda: 1.0)
ASKED = Question("int_" + "0" * 32, "Deploy?", ("Approve", "Deny"), 1_800_000_600, replayed=False, deadline=700.0)
PENDING = (
    b'{"id": "int_00000000000000000000000000000000", "status": "pending", "question": "Deploy?",'
    b' "choices": ["Approve", "Deny"], "choice": null, "choice_index": null, "created_at": 1800000000,'
    b' "expires_at": 1800000600, "answered_at": null, "answered_by": null, "receipt": null}'
)


def test_polls_are_held_back_no_longer_than_the_caller_waits():
    flow = flows.wait(ASKED, now=100, timeout_seconds=8.5, rules=RULES)
    poll = next(flow)
    assert isinstance(poll, HttpRequest)
    assert poll.path.endswith("?wait=8")
    assert poll.timeout_seconds == 10.5


def test_a_poll_that_was_held_back_is_followed_by_the_next_at_once():
    flow = flows.wait(ASKED, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    again = flow.send(Outcome(150, HttpReply(200, {"retry-after": "2"}, PENDING)))
    assert isinstance(again, HttpRequest)
    assert again.path.endswith("?wait=50")


def test_a_server_that_names_no_pace_is_polled_once_a_second():
    flow = flows.wait(ASKED, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    assert flow.send(Outcome(100.25, HttpReply(200, {}, PENDING))) == Pause(0.75)


def test_no_pace_of_the_servers_lets_the_end_of_the_question_pass_by():
    flow = flows.wait(ASKED, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    assert flow.send(Outcome(100, HttpReply(200, {"retry-after": "999999999"}, PENDING))) == Pause(50)


def test_a_server_that_still_says_pending_outweighs_a_deadline_that_was_estimated_too_early():
    estimated = Question(ASKED.id, ASKED.question, ASKED.choices, ASKED.expires_at, replayed=True, deadline=100.0)
    flow = flows.wait(estimated, now=400, timeout_seconds=None, rules=RULES)
    next(flow)
    assert isinstance(flow.send(Outcome(460, HttpReply(200, {}, PENDING))), HttpRequest)


def test_a_question_known_by_its_id_alone_is_waited_for_until_the_end_that_the_server_tells():
    flow = flows.wait(ASKED.id, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    headers = {"date": "Fri, 15 Jan 2027 08:08:20 GMT"}  # 1 800 000 500: 100 seconds before its end
    flow.send(Outcome(100, HttpReply(200, headers, PENDING)))
    assert ended_at(flow, flow.send(Outcome(101)), itertools.repeat("lost")) == pytest.approx(
        200 + GRACE_SECONDS, abs=1
    )


@given(
    outcomes=st.lists(st.sampled_from(["lost", "500", "429", "pending", "timeout"]), min_size=1),
    timeout=st.none() | st.floats(0, 1000),
)
def test_waiting_ends_whatever_the_network_does(outcomes: list[str], timeout: float | None):
    flow = flows.wait(ASKED, now=100, timeout_seconds=timeout, rules=RULES)
    end = ended_at(flow, next(flow), itertools.cycle(outcomes), now=100)
    if timeout is None:  # "pending" for the first time at the last moment allows a whole lifetime more, but no more
        assert end <= (ASKED.deadline + GRACE_SECONDS) + (600 + GRACE_SECONDS) + 65
    else:
        assert end <= 100 + timeout + 2


def ended_at(flow: flows.Flow[object], step: HttpRequest | Pause, outcomes: Iterable[str], now: float = 101) -> float:
    """Drive the flow until it raises, and return when it did. A timeout takes its time, all else a hundredth."""
    kinds = iter(outcomes)
    for _ in range(5_000):
        kind = "pause" if isinstance(step, Pause) else next(kinds)
        now += step.seconds if isinstance(step, Pause) else step.timeout_seconds if kind == "timeout" else 0.01
        try:
            step = flow.send(_outcome(kind, now))
        except ReflectoError:
            return now
    raise AssertionError("it goes on and on")


def _outcome(kind: str, now: float) -> Outcome:
    if kind == "pause":
        return Outcome(now)
    if kind in ("lost", "timeout"):
        return Outcome(now, failure=Unreachable("lost"))
    if kind == "pending":
        return Outcome(now, HttpReply(200, {}, PENDING))
    return Outcome(now, HttpReply(int(kind), {"retry-after": "1"}, b"{}"))


def test_a_shell_that_mixes_up_its_steps_is_told_so():
    flow = flows.wait(ASKED, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    with pytest.raises(RuntimeError):
        flow.send(Outcome(101))


def test_a_state_that_claims_to_end_before_it_began_is_not_waited_for():
    backwards = PENDING.replace(b'"created_at": 1800000000', b'"created_at": 1900000000')
    flow = flows.wait(ASKED, now=100, timeout_seconds=None, rules=RULES)
    next(flow)
    with pytest.raises(BrokenContract):
        flow.send(Outcome(100, HttpReply(200, {}, backwards)))
