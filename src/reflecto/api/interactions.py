"""Routes of questions. Source: api.md "POST/GET/DELETE interactions", devices.md "Answering"."""

from starlette.routing import Route

from reflecto.api.gate import Gate
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.patience import answer_unless_gone
from reflecto.contract.interactions import (
    AnswerRequest,
    CreateInteractionRequest,
    CreateInteractionResponse,
    InteractionState,
    SimulateRequest,
)
from reflecto.contract.limits import POLL_RETRY_AFTER_SECONDS
from reflecto.core.interactions import Interactions
from reflecto.core.sender import Sender


def interaction_routes(gate: Gate, interactions: Interactions) -> list[Route]:
    """Return the routes under /v1/interactions. Polls, answers and withdrawals are not limited."""
    auth = gate.auth

    async def create(call: Call, sender: Sender) -> Reply:
        asked = await interactions.ask(sender, await call.json(CreateInteractionRequest))
        headers = {}
        if asked.replayed:
            headers["idempotent-replayed"] = "true"
        if asked.mismatch:
            headers["idempotency-mismatch"] = "true"
        reply = CreateInteractionResponse(asked.interaction_id, asked.expires_at)
        return Reply(200 if asked.replayed else 201, reply, headers)

    async def read(call: Call) -> Reply:
        sender = await auth.sender(call)
        question_id, seconds = call.path_params["id"], call.wait_seconds()
        if not seconds:
            return _state_reply(await interactions.read(sender, question_id))

        async def wait() -> Reply:
            return _state_reply(await interactions.wait(sender, question_id, seconds))

        return await answer_unless_gone(call, wait())

    async def cancel(call: Call) -> Reply:
        sender = await auth.sender(call)
        return _state_reply(await interactions.cancel(sender, call.path_params["id"]))

    async def simulate(call: Call) -> Reply:
        sender = await auth.sender(call)
        request = await call.json(SimulateRequest)
        return _state_reply(await interactions.simulate(sender, call.path_params["id"], request))

    async def answer(call: Call) -> Reply:
        device = await auth.device(call)
        request = await call.json(AnswerRequest)
        return Reply(200, await interactions.answer(device, call.path_params["id"], request))

    return [
        Route("/v1/interactions", Endpoint(POST=gate.limited(create))),
        Route("/v1/interactions/{id}", Endpoint(GET=read, DELETE=cancel)),
        Route("/v1/interactions/{id}/simulate", Endpoint(POST=simulate)),
        Route("/v1/interactions/{id}/answer", Endpoint(POST=answer)),
    ]


def _state_reply(state: InteractionState) -> Reply:
    pending = state.status == "pending"
    return Reply(200, state, {"retry-after": str(POLL_RETRY_AFTER_SECONDS)} if pending else {})
