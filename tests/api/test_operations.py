"""A call that anybody could make by mistake cannot be written."""

from typing import Any

import pytest

from reflecto.api.callers import DEVICE, SENDER, anyone_with_a_code, nobody
from reflecto.api.http import Reply
from reflecto.api.operations import OPERATIONS, UNDOCUMENTED
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


# Each does nothing more when it comes again, or has a key of its own in its body.
REPEATABLE_WITHOUT_A_KEY = {
    "createInteraction": "its `idempotency_key`, else question and choices",
    "claudeCodeHook": "what it asks has a key of its own",
    "mcp": "a tool's question has a key of its own",
    "simulateAnswer": "the same tap again",
    "answerInteraction": "the same tap again",
    "dismissInteraction": "it has ended already",
    "dismissQuestions": "they have ended already",
    "acknowledge": "up to the same number again",
    "stopRing": "it is silent already",
    "acknowledgeEmergency": "it is acknowledged already",
    "pushoverCancel": "it has ended already",
    "pushoverCancelByTag": "they have ended already",
    "pushoverValidate": "it only looks",
    "greetPairing": "the same step again",
    "revealPairing": "the same step again",
    "approvePairing": "the same approval again",
}


def test_every_post_takes_an_idempotency_key_or_may_come_again_as_it_is():
    posts = [each for each in (*OPERATIONS, *UNDOCUMENTED) if each.method == "POST"]
    assert {each.id for each in posts if each.keyed_by is None} == REPEATABLE_WITHOUT_A_KEY.keys()
