"""The ASGI app: every route, and what answers where there is none."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from reflecto.api.errors import reply_parts
from reflecto.api.http import Call, Reply
from reflecto.api.public_path import PublicPath
from reflecto.api.pushover_shape import pushover_shape
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import NOT_FOUND

Lifespan = Callable[[ASGIApp], AbstractAsyncContextManager[None]]


def create_app(routes: list[BaseRoute], lifespan: Lifespan, public_path: str = "") -> Router:
    """Return the app. `public_path` is in front of every path where the proxy does not take it away."""
    under_path = PublicPath(public_path)

    async def not_routed(scope: Scope, receive: Receive, send: Send) -> None:
        # First without the prefix: to the page's own path under it belongs its slash.
        if await under_path.answer(router, scope, receive, send):
            return
        path = one_path(scope.get("path", "/"))
        if scope["type"] == "http" and path != scope["path"]:
            await router({**scope, "path": path, "raw_path": path.encode()}, receive, send)
            return
        await _not_found(scope, receive, send)

    router = Router(routes, redirect_slashes=False, default=not_routed, lifespan=lifespan)
    return router


def one_path(path: str) -> str:
    """Return the path that is meant by one with slashes too many: a base URL that ends in one has two in the middle."""
    return "/" + "/".join(part for part in path.split("/") if part)


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        reply = Reply(*reply_parts(ApiError(NOT_FOUND)))
        is_pushover = f"{scope['path']}/".startswith("/1/")  # its clients crash on any other form
        await Call(scope, receive, send).answer(pushover_shape(reply) if is_pushover else reply)
    else:  # a web socket: nothing here speaks it
        await send({"type": "websocket.close", "code": 1000})
