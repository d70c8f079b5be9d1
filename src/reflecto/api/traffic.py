"""Which requests there were, how they were answered, and how soon: by route, never by what a caller made up."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reflecto.core.ports.metrics import SECONDS_BOUNDS, Histogram, Labels

NO_ROUTE: Final = "none"  # where the path is none of ours
NO_METHOD: Final = "other"  # where the route does not answer it
_SERVED: Final = "reflecto.served"  # in a request's scope, which the router copies: what is in it stays one object


class _Served:
    """What is known of a request when its reply begins."""

    __slots__ = ("began", "method", "route", "waits")

    def __init__(self, began: float) -> None:
        self.began = began
        self.route = NO_ROUTE
        self.method = NO_METHOD
        self.waits = False


class Traffic:
    """Counts requests by route, method and status, as their replies begin, and by route and method how long that took.

    One whose client leaves before is not counted.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.requests: dict[tuple[str, str, int], int] = {}  # by route, method, status
        self.seconds: dict[Labels, Histogram] = {}
        self._now = now

    def begin(self) -> _Served:
        """Note that a request has come."""
        return _Served(self._now())

    def add(self, served: _Served, status: int) -> None:
        """Count it, now that its reply begins."""
        asked = (served.route, served.method, status)
        self.requests[asked] = self.requests.get(asked, 0) + 1
        if not served.waits:
            labels = asked[:2]
            histogram = self.seconds.get(labels)
            if histogram is None:
                histogram = self.seconds[labels] = Histogram(SECONDS_BOUNDS)
            histogram.add(self._now() - served.began)

    def count_requests(self) -> dict[Labels, int]:
        """Return how many requests there were, by route, method and status."""
        return {(route, method, str(status)): count for (route, method, status), count in self.requests.items()}


class TrafficWatch:
    """Counts in `traffic` what `app` is asked and how it replies."""

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self.app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        traffic = self._traffic
        served = scope[_SERVED] = traffic.begin()

        def counted(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                traffic.add(served, message["status"])
            return send(message)

        await self.app(scope, receive, counted)


def note_route(scope: Scope, route: str, method: str) -> None:
    """Note that the request is answered by this route, as its template names it, and this method of it."""
    served: _Served | None = scope.get(_SERVED)
    if served is not None:
        served.route, served.method = route, method


def note_wait(scope: Scope) -> None:
    """Note that the reply waits for a person: how long it takes tells nothing of the server."""
    served: _Served | None = scope.get(_SERVED)
    if served is not None:
        served.waits = True
