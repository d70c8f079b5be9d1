"""The owner's sender tokens, from a phone. Source: devices.md "Tokens, from a phone only"."""

from __future__ import annotations

from functools import partial
from typing import Final

from reflecto.api.callers import DEVICE
from reflecto.api.http import Reply
from reflecto.api.keyed import by_token
from reflecto.api.operations.operation import (
    AS_DEVICE,
    SENDING_JSON,
    Admitted,
    Operation,
    Success,
    curl,
    done,
    json_body,
    path_id,
)
from reflecto.contract import errors
from reflecto.contract.answering import DismissAllResponse
from reflecto.contract.tokens import (
    CreateTokenRequest,
    NewToken,
    TokenLabelList,
    TokenList,
    TokenState,
    UpdateTokenRequest,
)
from reflecto.core.model import Device

TAG: Final = "Devices"


async def list_tokens(call: Admitted[Device, None]) -> Reply:
    """Reply 200 with the owner's live tokens; a desktop gets ids and labels only."""
    return Reply(200, await call.use_cases.tokens.list_for(call.caller))


async def create_token(call: Admitted[Device, CreateTokenRequest]) -> Reply:
    """Make a sender token: 201, the only reply with its plaintext."""
    return await call.once(partial(call.use_cases.tokens.create, call.caller, call.body), partial(Reply, 201))


async def change_token(call: Admitted[Device, UpdateTokenRequest]) -> Reply:
    """Rename, colour or mute the token in the path: 200 with it as it is then."""
    return Reply(200, await call.use_cases.tokens.change(call.caller, call.path_params["id"], call.body))


async def dismiss_questions(call: Admitted[Device, None]) -> Reply:
    """End every open question of the token in the path: 200 with their ids."""
    return Reply(200, await call.use_cases.tokens.dismiss_questions(call.caller, call.path_params["id"]))


async def revoke_token(call: Admitted[Device, None]) -> Reply:
    """Revoke the token in the path, withdraw its open questions: 204."""
    await call.use_cases.tokens.revoke(call.caller, call.path_params["id"])
    return Reply(204)


TOKENS: Final = (
    Operation(
        method="GET",
        path="/v1/tokens",
        caller=DEVICE,
        handler=list_tokens,
        id="listTokens",
        tag=TAG,
        summary="List the owner's sender tokens",
        description="Never their plaintext. A desktop gets ids and labels only.",
        curl=curl('"$REFLECTO_URL/v1/tokens"', AS_DEVICE),
        successes=(Success(status=200, description="The live tokens.", models=(TokenList, TokenLabelList)),),
    ),
    Operation(
        method="POST",
        path="/v1/tokens",
        caller=DEVICE,
        handler=create_token,
        body=json_body(CreateTokenRequest),
        keyed_by=by_token,
        id="createToken",
        tag=TAG,
        summary="Make a sender token",
        description=(
            "With a phone's token. The plaintext is in this reply and never again. No two tokens of an owner may look "
            "the same by name. A token with a `priority_cap` below `high` cannot ask: with `ask` it is "
            "`invalid_scopes`, and without `scopes` `ask` is left out, with a warning."
        ),
        curl=curl('"$REFLECTO_URL/v1/tokens"', AS_DEVICE, SENDING_JSON, '-d \'{"label": "CI", "scopes": ["ask"]}\''),
        successes=(done(201, "The token.", NewToken),),
        errors=(errors.SCOPE_DENIED, errors.TOO_MANY_TOKENS, errors.LABEL_TAKEN),
    ),
    Operation(
        method="PATCH",
        path="/v1/tokens/{id}",
        caller=DEVICE,
        handler=change_token,
        body=json_body(UpdateTokenRequest),
        id="changeToken",
        tag=TAG,
        summary="Rename, colour or mute a sender token",
        description=(
            "With a phone's token. What is absent stays as it is. The new questions, rings and emergencies of a muted "
            "token are refused with `sender_muted`, its messages arrive silently; what it asked before stays open. "
            "The owner's other phones learn what was changed, and on which phone."
        ),
        curl=curl(
            '-X PATCH "$REFLECTO_URL/v1/tokens/$TOKEN_ID"', AS_DEVICE, SENDING_JSON, '-d \'{"muted_until": "forever"}\''
        ),
        parameters=(path_id("tok", "token"),),
        successes=(done(200, "The token as it is now.", TokenState),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND, errors.LABEL_TAKEN),
    ),
    Operation(
        method="POST",
        path="/v1/tokens/{id}/dismiss",
        caller=DEVICE,
        handler=dismiss_questions,
        id="dismissQuestions",
        tag=TAG,
        summary="Refuse all open questions of a sender token",
        description=(
            "With a phone's token. Each ends as `POST /v1/interactions/{id}/dismiss` ends it. May be repeated."
        ),
        curl=curl('-X POST "$REFLECTO_URL/v1/tokens/$TOKEN_ID/dismiss"', AS_DEVICE),
        parameters=(path_id("tok", "token"),),
        successes=(done(200, "The questions that this has ended.", DismissAllResponse),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND),
    ),
    Operation(
        method="DELETE",
        path="/v1/tokens/{id}",
        caller=DEVICE,
        handler=revoke_token,
        id="revokeToken",
        tag=TAG,
        summary="Revoke a sender token",
        description="With a phone's token. The very next request with it is refused, and what it asked is withdrawn.",
        curl=curl('-X DELETE "$REFLECTO_URL/v1/tokens/$TOKEN_ID"', AS_DEVICE),
        parameters=(path_id("tok", "token"),),
        successes=(done(204, "It is revoked."),),
        errors=(errors.SCOPE_DENIED, errors.NOT_FOUND),
    ),
)
