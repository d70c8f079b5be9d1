"""Routes of sender tokens, for devices. Source: devices.md "Tokens, from a phone only"."""

from starlette.routing import Route

from reflecto.api.auth import Authenticator
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.contract.tokens import CreateTokenRequest
from reflecto.core.tokens import Tokens


def token_routes(auth: Authenticator, tokens: Tokens) -> list[Route]:
    """Return the routes under /v1/tokens."""

    async def list_tokens(call: Call) -> Reply:
        return Reply(200, await tokens.list_for(await auth.device(call)))

    async def create_token(call: Call) -> Reply:
        device = await auth.device(call)
        return Reply(201, await tokens.create(device, await call.json(CreateTokenRequest)))

    async def revoke_token(call: Call) -> Reply:
        await tokens.revoke(await auth.device(call), call.path_params["id"])
        return Reply(204)

    return [
        Route("/v1/tokens", Endpoint(GET=list_tokens, POST=create_token)),
        Route("/v1/tokens/{id}", Endpoint(DELETE=revoke_token)),
    ]
