"""What the server says of itself."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from reflecto.api.callers import nobody
from reflecto.api.forwarded import UNTRUSTED_PROXY
from reflecto.api.http import Reply
from reflecto.api.metrics import CONTENT_TYPE
from reflecto.api.operations.operation import Admitted, Handler, Operation, Success, done
from reflecto.contract.notes import note

TAG: Final = "Server"
EVERYBODY: Final = nobody("It tells everybody the same, and nothing of anybody")


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Annotated[Literal["ok"], note("It answers", "ok")]
    version: Annotated[str, note("The server's version, in a clone with the commit", "0.1.0+g1a2b3c4")]
    app: Annotated[
        Literal["current", "stale", "missing"],
        note("The phone's web app: `stale` was built from older sources", "current"),
    ]
    repeats: Annotated[
        Literal["Idempotency-Key"],
        note("The header under which a request that is sent again does nothing more", "Idempotency-Key"),
    ]


class Readiness(msgspec.Struct, frozen=True):
    """A write has just reached the disk."""

    status: Annotated[Literal["ready"], note("It can store", "ready")]
    concerns: Annotated[
        tuple[str, ...] | msgspec.UnsetType,
        note("With PostgreSQL: which of its settings may lose what was accepted", ["no_synchronous_standby"]),
    ] = msgspec.UNSET


def _page(
    path: str, operation_id: str, handler: Handler[None, None], summary: str, content_type: str
) -> Operation[None, None]:
    return Operation(
        method="GET",
        path=path,
        caller=EVERYBODY,
        handler=handler,
        id=operation_id,
        tag=TAG,
        summary=summary,
        description="For everyone.",
        curl=f'curl "$REFLECTO_URL{path}"',
        successes=(Success(status=200, description=summary, content_type=content_type),),
    )


async def health(call: Admitted[None, None]) -> Reply:
    """Reply 200 with the version; to a request through a proxy that is not trusted also that it is not."""
    if call.scope.get(UNTRUSTED_PROXY):  # for `reflecto doctor`, which came through it
        return Reply(200, {**call.use_cases.health, "proxy": "not_trusted"})
    return Reply(200, call.use_cases.health)


async def readiness(call: Admitted[None, None]) -> Reply:
    """Reply 200 if the store can take something new. Raises: StoreUnavailableError (503)."""
    concerns = await call.use_cases.readiness.check()
    return Reply(200, {"status": "ready", **({"concerns": concerns} if concerns else {})})


async def metrics(call: Admitted[None, None]) -> None:
    """Send what this process counts, in Prometheus' text format."""
    headers = [(b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store")]
    text = await call.use_cases.watched.exposition()
    await call.send({"type": "http.response.start", "status": 200, "headers": headers})
    await call.send({"type": "http.response.body", "body": text.encode()})


async def openapi_json(call: Admitted[None, None]) -> None:
    """Send the OpenAPI document as JSON."""
    await (await call.use_cases.reference.openapi_json()).answer(call)


async def openapi_yaml(call: Admitted[None, None]) -> None:
    """Send the OpenAPI document as YAML."""
    await (await call.use_cases.reference.openapi_yaml()).answer(call)


async def page(call: Admitted[None, None]) -> None:
    """Send the reference page, HTML."""
    await (await call.use_cases.reference.page()).answer(call)


async def page_style(call: Admitted[None, None]) -> None:
    """Send the reference page's style sheet."""
    await (await call.use_cases.reference.page_style()).answer(call)


async def llms(call: Admitted[None, None]) -> None:
    """Send llms.txt, Markdown."""
    await (await call.use_cases.reference.llms()).answer(call)


SERVER: Final = (
    Operation(
        method="GET",
        path="/healthz",
        caller=EVERYBODY,
        handler=health,
        id="health",
        tag=TAG,
        summary="Is the server up?",
        description="Touches nothing but the process itself.",
        curl='curl "$REFLECTO_URL/healthz"',
        successes=(done(200, "It is.", Health),),
    ),
    Operation(
        method="GET",
        path="/readyz",
        caller=EVERYBODY,
        handler=readiness,
        id="readiness",
        tag=TAG,
        summary="Can the server store anything?",
        description="Finds room for something new and gives it back, at most once a second whoever asks.",
        curl='curl "$REFLECTO_URL/readyz"',
        successes=(done(200, "It can.", Readiness),),
    ),
    _page("/metrics", "metrics", metrics, "What this process counts, for Prometheus", "text/plain"),
    _page("/openapi.json", "openapiJson", openapi_json, "This document as JSON", "application/json"),
    _page("/openapi.yaml", "openapiYaml", openapi_yaml, "This document as YAML", "application/yaml"),
    _page("/docs", "reference", page, "The reference for people", "text/html"),
    _page("/docs.css", "referenceStyle", page_style, "The style of the reference", "text/css"),
    _page("/llms.txt", "llmsTxt", llms, "The reference for language models", "text/plain"),
)
