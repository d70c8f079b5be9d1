"""How the server is doing, for Prometheus: counts only, no content, no names, no ids."""

from collections.abc import Callable, Mapping
from typing import Final

from starlette.routing import Route

from reflecto.api.http import Call, Endpoint
from reflecto.version import version

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"  # Prometheus' text format

Gauges = Mapping[str, tuple[str, Callable[[], float]]]


def metrics_routes(gauges: Gauges) -> list[Route]:
    """Return /metrics with these gauges: name to (what it tells, how to read it)."""

    async def metrics(call: Call) -> None:
        headers = [(b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store")]
        await call.send({"type": "http.response.start", "status": 200, "headers": headers})
        await call.send({"type": "http.response.body", "body": exposition(gauges).encode()})

    return [Route("/metrics", Endpoint(GET=metrics))]


def exposition(gauges: Gauges) -> str:
    """Return the gauges, and the version, in Prometheus' text format."""
    lines = [
        "# HELP reflecto_build_info The version that runs.",
        "# TYPE reflecto_build_info gauge",
        f'reflecto_build_info{{version="{version()}"}} 1',
    ]
    for name, (meaning, read) in gauges.items():
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {read():g}"]
    return "\n".join(lines) + "\n"
