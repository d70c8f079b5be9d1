"""What the server says of itself."""

from typing import Final, Literal

import msgspec

from reflecto.api.callers import nobody
from reflecto.api.fields.note import Notes, note
from reflecto.api.operations.operation import AnyOperation, Operation, Success, done

TAG: Final = "Server"
EVERYBODY: Final = nobody("It tells everybody the same, and nothing of anybody")


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"]
    version: str
    app: Literal["current", "stale", "missing"]


class Readiness(msgspec.Struct, frozen=True):
    """A write has just reached the disk."""

    status: Literal["ready"]


SERVER_NOTES: Final[Notes] = {
    Health: {
        "status": note("It answers", "ok"),
        "version": note("The server's version, in a clone with the commit", "0.1.0+g1a2b3c4"),
        "app": note("The phone's web app: `stale` was built from older sources", "current"),
    },
    Readiness: {"status": note("It can store", "ready")},
}


def _page(path: str, operation_id: str, summary: str, content_type: str) -> AnyOperation:
    return Operation(
        method="GET",
        path=path,
        id=operation_id,
        tag=TAG,
        summary=summary,
        description="For everyone.",
        curl=f'curl "$REFLECTO_URL{path}"',
        caller=EVERYBODY,
        successes=(Success(status=200, description=summary, content_type=content_type),),
    )


SERVER: Final[tuple[AnyOperation, ...]] = (
    Operation(
        method="GET",
        path="/healthz",
        id="health",
        tag=TAG,
        summary="Is the server up?",
        description="Touches nothing but the process itself.",
        curl='curl "$REFLECTO_URL/healthz"',
        caller=EVERYBODY,
        successes=(done(200, "It is.", Health),),
    ),
    Operation(
        method="GET",
        path="/readyz",
        id="readiness",
        tag=TAG,
        summary="Can the server store anything?",
        description="Finds room for something new and gives it back, at most once a second whoever asks.",
        curl='curl "$REFLECTO_URL/readyz"',
        caller=EVERYBODY,
        successes=(done(200, "It can.", Readiness),),
    ),
    _page("/metrics", "metrics", "Open streams and long polls, for Prometheus", "text/plain"),
    _page("/openapi.json", "openapiJson", "This document as JSON", "application/json"),
    _page("/openapi.yaml", "openapiYaml", "This document as YAML", "application/yaml"),
    _page("/docs", "reference", "The reference for people", "text/html"),
    _page("/docs.css", "referenceStyle", "The style of the reference", "text/css"),
    _page("/llms.txt", "llmsTxt", "The reference for language models", "text/plain"),
)
