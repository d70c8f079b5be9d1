"""Questions: asking, waiting, withdrawing. Source: interactions.openapi.yaml, api.md."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from reflecto.api.callers import DEVICE, SENDER
from reflecto.api.http import Reply
from reflecto.api.long_polls import answer_unless_disconnected
from reflecto.api.operations.operation import (
    AS_DEVICE,
    AS_SENDER,
    AS_TEST_SENDER,
    SENDING_JSON,
    Admitted,
    Operation,
    Parameter,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.answering import AnswerRequest, AnswerResponse, DismissRequest, DismissResponse
from reflecto.contract.interactions import CreateInteractionRequest, SimulateRequest
from reflecto.contract.limits import (
    PENDING_MAX_PER_OWNER,
    POLL_RETRY_AFTER_SECONDS,
    QUESTION_BODY_MAX_BYTES,
    WAIT_MAX_SECONDS,
)
from reflecto.contract.question_states import CreateInteractionResponse, InteractionState
from reflecto.core.model import Device
from reflecto.core.sender import Sender

TAG: Final = "Interactions"
_ID: Final = path_id("int", "question")
_WAIT: Final = Parameter(
    name="wait",
    place="query",
    description="How long to hold the reply while the question is pending, in seconds",
    schema={"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS, "default": 0},
)
_POLL: Final = "While the question is pending: when to ask again, in seconds"


async def ask(call: Admitted[Sender, CreateInteractionRequest]) -> Reply:
    """Ask: 201, or 200 with the one that was asked before."""
    asked = await call.use_cases.interactions.ask(call.caller, call.body)
    headers = {}
    if asked.replayed:
        headers["idempotent-replayed"] = "true"
    if asked.mismatch:
        headers["idempotency-mismatch"] = "true"
    number = UNSET if asked.confirm_number is None else asked.confirm_number
    reply = CreateInteractionResponse(asked.interaction_id, asked.expires_at, number)
    return Reply(200 if asked.replayed else 201, reply, headers)


async def read(call: Admitted[Sender, None]) -> Reply:
    """Reply 200 with the question's state, with `wait` once it has ended or the time is up."""
    interactions, question_id = call.use_cases.interactions, call.path_params["id"]
    seconds = call.wait_seconds()
    if not seconds:
        return _state_reply(await interactions.read(call.caller, question_id))

    async def wait() -> Reply:
        return _state_reply(await interactions.wait(call.caller, question_id, seconds))

    return await answer_unless_disconnected(call, wait())


async def withdraw(call: Admitted[Sender, None]) -> Reply:
    """Withdraw a question: 200 with its last state."""
    return _state_reply(await call.use_cases.interactions.cancel(call.caller, call.path_params["id"]))


async def simulate(call: Admitted[Sender, SimulateRequest]) -> Reply:
    """Answer a test token's own question: 200 with its state."""
    return _state_reply(await call.use_cases.interactions.simulate(call.caller, call.path_params["id"], call.body))


async def answer(call: Admitted[Device, AnswerRequest]) -> Reply:
    """Record a tap: 200 with the answer as it is stored."""
    return Reply(200, await call.use_cases.interactions.answer(call.caller, call.path_params["id"], call.body))


async def dismiss(call: Admitted[Device, DismissRequest]) -> Reply:
    """End a question without an answer: 200 with how it ended."""
    return Reply(200, await call.use_cases.interactions.dismiss(call.caller, call.path_params["id"], call.body))


def _state_reply(state: InteractionState) -> Reply:
    pending = state.status == "pending"
    return Reply(200, state, {"retry-after": str(POLL_RETRY_AFTER_SECONDS)} if pending else {})


QUESTIONS: Final = (
    Operation(
        method="POST",
        path="/v1/interactions",
        caller=SENDER,
        handler=ask,
        body=json_body(CreateInteractionRequest, QUESTION_BODY_MAX_BYTES),
        limited=True,
        id="createInteraction",
        tag=TAG,
        summary="Ask a question on the paired phone",
        description=(
            "Replies as soon as the question is stored and in every phone's queue; the answer is read with "
            "`GET /v1/interactions/{id}?wait=50`. The first tap wins.\n\n"
            "A repeat finds the question that was asked first, until that one's `expires_at`: with an "
            "`idempotency_key` by the key alone, without one by question, choices and what was given of `details`, "
            "`source`, `danger`, `confirm` and `comment`. So a request whose reply was "
            "lost is simply sent again and nobody is asked twice.\n\n"
            f"At most {PENDING_MAX_PER_OWNER} questions of one owner are open at a time. The prompt's priority is "
            "`high`."
        ),
        curl=curl(
            '"$REFLECTO_URL/v1/interactions"',
            AS_SENDER,
            SENDING_JSON,
            '-d \'{"question": "Deploy build 42 to production?", "idempotency_key": "deploy-42"}\'',
        ),
        successes=(
            done(
                200,
                "The same question was asked before and its window is still open; that one is returned and no second "
                "prompt is sent.",
                CreateInteractionResponse,
                Idempotent_Replayed="`true`: this is a question asked before",
                Idempotency_Mismatch=(
                    "`true`: the key was used for another question or other choices, whose id this is; "
                    "do not take its answer for yours"
                ),
            ),
            done(201, "A new question was reserved and dispatched to the phone.", CreateInteractionResponse),
        ),
        errors=(
            errors.PRIORITY_CAPPED,
            errors.SCOPE_DENIED,
            errors.SENDER_MUTED,
            errors.NO_PHONE_DEVICE,
            errors.PHONE_APP_OUTDATED,
            errors.TOO_MANY_PENDING,
            errors.QUEUE_FULL,
        ),
    ),
    Operation(
        method="GET",
        path="/v1/interactions/{id}",
        caller=SENDER,
        handler=read,
        id="getInteraction",
        tag=TAG,
        summary="Read a question and its answer, or wait for it",
        description=(
            "With `wait` the reply comes as soon as the question has ended, or with status `pending` when the time is "
            "up: then call again. `pending`, `expired` and `cancelled` are not answers, and silence is never consent: "
            "act only on `answered` and the `choice` that comes with it.\n\n"
            "Readable by the token that asked, until 24 hours after the question's end. Waiting costs no quota."
        ),
        curl=curl('"$REFLECTO_URL/v1/interactions/$ID?wait=50"', AS_SENDER),
        parameters=(_ID, _WAIT),
        successes=(done(200, "The question as it stands.", InteractionState, Retry_After=_POLL),),
        errors=(errors.INVALID_WAIT, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/interactions/{id}",
        caller=SENDER,
        handler=withdraw,
        id="cancelInteraction",
        tag=TAG,
        summary="Withdraw a question",
        description="The prompts vanish from the phones. May be repeated.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/interactions/$ID"', AS_SENDER),
        parameters=(_ID,),
        successes=(done(200, "The question, cancelled.", InteractionState),),
        errors=(errors.NOT_FOUND, errors.ALREADY_ANSWERED, errors.INTERACTION_CLOSED),
    ),
    Operation(
        method="POST",
        path="/v1/interactions/{id}/simulate",
        caller=SENDER,
        handler=simulate,
        body=json_body(SimulateRequest),
        id="simulateAnswer",
        tag=TAG,
        summary="Answer a test token's own question",
        description="For integrators without a phone: records the answer as if it had been tapped. Test tokens only.",
        curl=curl(
            '"$REFLECTO_URL/v1/interactions/$ID/simulate"', AS_TEST_SENDER, SENDING_JSON, '-d \'{"choice": "Approve"}\''
        ),
        parameters=(_ID,),
        successes=(done(200, "The question, answered.", InteractionState),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND, errors.ALREADY_ANSWERED, errors.INTERACTION_CLOSED),
    ),
)
# Of the device side, and listed there.
ANSWERING: Final = (
    Operation(
        method="POST",
        path="/v1/interactions/{id}/answer",
        caller=DEVICE,
        handler=answer,
        body=json_body(AnswerRequest),
        id="answerInteraction",
        tag="Devices",
        summary="Answer a question",
        description=(
            "With a phone's token. The first answer wins; the winner may repeat its own. A question that brought more "
            "than its four fields takes only a signed answer with `v` 2."
        ),
        curl=curl(
            '"$REFLECTO_URL/v1/interactions/$ID/answer"',
            AS_DEVICE,
            SENDING_JSON,
            '-d "{\\"choice_index\\": 0, \\"answered_at\\": $(date +%s)}"',
        ),
        parameters=(path_id("int", "question"),),
        successes=(done(200, "The answer is recorded.", AnswerResponse),),
        errors=(
            errors.SCOPE_DENIED,
            errors.WRONG_NUMBER,
            errors.NOT_FOUND,
            errors.ALREADY_ANSWERED,
            errors.INTERACTION_CLOSED,
        ),
    ),
    Operation(
        method="POST",
        path="/v1/interactions/{id}/dismiss",
        caller=DEVICE,
        handler=dismiss,
        body=json_body(DismissRequest),
        id="dismissInteraction",
        tag="Devices",
        summary="Refuse a question",
        description=(
            "With a phone's token. It ends without an answer: its asker sees `cancelled` with this `reason`. The first "
            "of answer and refusal wins. May be repeated."
        ),
        curl=curl(
            '"$REFLECTO_URL/v1/interactions/$ID/dismiss"', AS_DEVICE, SENDING_JSON, '-d \'{"reason": "dismissed"}\''
        ),
        parameters=(path_id("int", "question"),),
        successes=(done(200, "The question has ended.", DismissResponse),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND, errors.ALREADY_ANSWERED, errors.INTERACTION_CLOSED),
    ),
)
