"""The ASGI app: every route, and what answers where there is none."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from reflecto.api.errors import reply_parts
from reflecto.api.http import Call, Reply
from reflecto.contract.errors import NOT_FOUND, ApiError

Lifespan = Callable[[ASGIApp], AbstractAsyncContextManager[None]]


def create_app(routes: list[BaseRoute], lifespan: Lifespan) -> Router:
    """Return the app."""
    return Router(routes, redirect_slashes=False, default=_not_found, lifespan=lifespan)


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await Call(scope, receive, send).answer(Reply(*reply_parts(ApiError(NOT_FOUND))))
    else:  # a web socket: nothing here speaks it
        await send({"type": "websocket.close", "code": 1000})
