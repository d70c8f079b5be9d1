"""Questions: asking, waiting, withdrawing. Source: interactions.openapi.yaml, api.md."""

from typing import Final

from reflecto.api.callers import SENDER
from reflecto.api.operations.operation import (
    AS_SENDER,
    AS_TEST_SENDER,
    SENDING_JSON,
    AnyOperation,
    Operation,
    Parameter,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.interactions import (
    CreateInteractionRequest,
    CreateInteractionResponse,
    InteractionState,
    SimulateRequest,
)
from reflecto.contract.limits import PENDING_MAX_PER_OWNER, WAIT_MAX_SECONDS

TAG: Final = "Interactions"
_ID: Final = path_id("int", "question")
_WAIT: Final = Parameter(
    name="wait",
    place="query",
    description="How long to hold the reply while the question is pending, in seconds",
    schema={"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS, "default": 0},
)
_POLL: Final = "While the question is pending: when to ask again, in seconds"

QUESTIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="POST",
        path="/v1/interactions",
        id="createInteraction",
        tag=TAG,
        summary="Ask a question on the paired phone",
        description=(
            "Replies as soon as the question is stored and in every phone's queue; the answer is read with "
            "`GET /v1/interactions/{id}?wait=50`. The first tap wins.\n\n"
            "A repeat finds the question that was asked first, until that one's `expires_at`: with an "
            "`idempotency_key` by the key alone, without one by question and choices. So a request whose reply was "
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
        caller=SENDER,
        body=json_body(CreateInteractionRequest),
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
            errors.NO_PHONE_DEVICE,
            errors.PHONE_APP_OUTDATED,
            errors.TOO_MANY_PENDING,
            errors.QUEUE_FULL,
        ),
        limited=True,
    ),
    Operation(
        method="GET",
        path="/v1/interactions/{id}",
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
        caller=SENDER,
        successes=(done(200, "The question as it stands.", InteractionState, Retry_After=_POLL),),
        parameters=(_ID, _WAIT),
        errors=(errors.INVALID_WAIT, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/interactions/{id}",
        id="cancelInteraction",
        tag=TAG,
        summary="Withdraw a question",
        description="The prompts vanish from the phones. May be repeated.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/interactions/$ID"', AS_SENDER),
        caller=SENDER,
        successes=(done(200, "The question, cancelled.", InteractionState),),
        parameters=(_ID,),
        errors=(errors.NOT_FOUND, errors.ALREADY_ANSWERED, errors.INTERACTION_CLOSED),
    ),
    Operation(
        method="POST",
        path="/v1/interactions/{id}/simulate",
        id="simulateAnswer",
        tag=TAG,
        summary="Answer a test token's own question",
        description="For integrators without a phone: records the answer as if it had been tapped. Test tokens only.",
        curl=curl(
            '"$REFLECTO_URL/v1/interactions/$ID/simulate"', AS_TEST_SENDER, SENDING_JSON, '-d \'{"choice": "Approve"}\''
        ),
        caller=SENDER,
        body=json_body(SimulateRequest),
        successes=(done(200, "The question, answered.", InteractionState),),
        parameters=(_ID,),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND, errors.ALREADY_ANSWERED, errors.INTERACTION_CLOSED),
    ),
)
