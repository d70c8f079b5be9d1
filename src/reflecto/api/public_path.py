"""The path of the server's public address, `/reflecto` in `https://example.org/reflecto`, where a proxy keeps it.

A proxy that takes the path away needs nothing of this. The app's own links are relative, so both ways serve it alike.
"""

from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from reflecto.api.http import Call, Reply


class PublicPath:
    """Looks up once more, without `prefix`, what the router did not find. It leaves alone what the router knows."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix  # begins with a slash and has none at its end; empty for a server at the root

    async def answer(self, router: Router, scope: Scope, receive: Receive, send: Send) -> bool:
        """Answer the request if its path lies under the prefix; tell whether it did."""
        if not self._prefix or scope["type"] != "http" or scope.get("root_path") == self._prefix:
            return False
        path: str = scope["path"]
        if path == self._prefix and scope["method"] in {"GET", "HEAD"}:
            # Without the slash, the page's relative links would lead out of the folder.
            await Call(scope, receive, send).answer(Reply(308, headers={"location": f"{path}/"}))
            return True
        if not path.startswith(f"{self._prefix}/"):
            return False
        # ASGI's word for it, which the router takes off once, however often the path repeats itself.
        await router({**scope, "root_path": self._prefix}, receive, send)
        return True
