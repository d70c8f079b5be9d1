"""A call that anybody could make by mistake cannot be written."""

from typing import Any

import pytest

from reflecto.api.callers import DEVICE, SENDER, anyone_with_a_code, nobody
from reflecto.api.http import Reply
from reflecto.api.operations.operation import Admitted, AnyOperation, Operation, done


async def do_nothing(_call: Admitted[object, None]) -> Reply:
    return Reply(204)


def row(**columns) -> AnyOperation:
    given: dict[str, Any] = {
        "method": "POST",
        "path": "/v1/nothing",
        "handler": do_nothing,
        "id": "doNothing",
        "tag": "Server",
        "summary": "Do nothing",
        "description": "Nothing is done.",
        "curl": "curl",
        "successes": (done(204, "It is not done."),),
    }
    return Operation(**given | columns)


def test_a_row_that_names_no_caller_is_refused():
    with pytest.raises(TypeError, match="caller"):
        row()


@pytest.mark.parametrize("because", ["", "  "])
@pytest.mark.parametrize("caller", [nobody, anyone_with_a_code])
def test_what_needs_no_token_says_why(caller, because: str):
    with pytest.raises(ValueError, match="why"):
        caller(because)


def test_only_what_a_sender_calls_can_be_limited():
    assert row(caller=SENDER, limited=True).limited
    for caller in (DEVICE, nobody("It tells everybody the same")):
        with pytest.raises(ValueError, match="limited"):
            row(caller=caller, limited=True)


def test_a_documented_call_says_what_it_does_how_it_is_made_and_how_it_succeeds():
    for missing in ({"summary": ""}, {"description": ""}, {"curl": ""}, {"successes": ()}):
        with pytest.raises(ValueError, match="documented"):
            row(caller=SENDER, **missing)
        assert row(caller=SENDER, tag=None, **missing).tag is None
