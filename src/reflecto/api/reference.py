"""Routes of the API's description: for programs, for people and for language models.

Document and templates are loaded when the first reader comes: a server starts a tenth of a second sooner without.
"""

import asyncio
import gzip
import hashlib
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Final

import msgspec
from starlette.routing import Route

from reflecto.api.fields.note import REMINDER_EXAMPLE
from reflecto.api.http import Call, Endpoint
from reflecto.api.webapp import REVALIDATE, WebFile
from reflecto.core.clock import Clock
from reflecto.core.enrolment import PUBLIC_URL_FACT
from reflecto.core.ports.store import Store

HTML: Final = b"text/html; charset=utf-8"
CSS: Final = b"text/css; charset=utf-8"
DAYS_KEPT: Final = 4
TEXT: Final = b"text/plain; charset=utf-8"


def reference_routes(store: Store, clock: Clock, public_path: str = "") -> list[Route]:
    """Return /openapi.json, /openapi.yaml, /docs, its style, and /llms.txt. `public_path` is before every path.

    They are made in threads when they are first asked for: that takes long, and to import what makes them too.
    """

    async def openapi_json(call: Call) -> None:
        await (await asyncio.to_thread(_document, public_path, _day_to_come(clock))).answer(call)

    async def openapi_yaml(call: Call) -> None:
        await (await asyncio.to_thread(_document_yaml, public_path, _day_to_come(clock))).answer(call)

    async def docs(call: Call) -> None:
        public_url = await store.recall(PUBLIC_URL_FACT) or ""
        await (await asyncio.to_thread(_page, public_url, _day_to_come(clock))).answer(call)

    async def docs_style(call: Call) -> None:
        await (await asyncio.to_thread(_style)).answer(call)

    async def llms(call: Call) -> None:
        await (await asyncio.to_thread(_llms, await store.recall(PUBLIC_URL_FACT) or "")).answer(call)

    return [
        Route("/openapi.json", Endpoint(GET=openapi_json)),
        Route("/openapi.yaml", Endpoint(GET=openapi_yaml)),
        Route("/docs", Endpoint(GET=docs)),
        Route("/docs.css", Endpoint(GET=docs_style)),
        Route("/llms.txt", Endpoint(GET=llms)),
    ]


def _day_to_come(clock: Clock) -> str:
    """Return tomorrow's date or the one after, wherever one is: an example of a reminder must not lie in the past."""
    return datetime.fromtimestamp(clock.now() + 2 * 86_400, UTC).date().isoformat()


def _dated(text: bytes, day: str) -> bytes:
    return text.replace(REMINDER_EXAMPLE.encode(), f"{day}{REMINDER_EXAMPLE[len(day) :]}".encode())


@lru_cache(DAYS_KEPT)
def _document(public_path: str, day: str) -> WebFile:
    from reflecto.api.openapi import document  # noqa: PLC0415  see above

    return _file(b"application/json", _dated(document(public_path), day))


@lru_cache(DAYS_KEPT)
def _document_yaml(public_path: str, day: str) -> WebFile:
    from reflecto.api.openapi import document_yaml  # noqa: PLC0415  see above

    return _file(b"application/yaml", _dated(document_yaml(public_path), day))


@cache
def _style() -> WebFile:
    from reflecto.api.reference_page import style  # noqa: PLC0415  see above

    return _file(CSS, style().encode())


@lru_cache(DAYS_KEPT)
def _page(public_url: str, day: str) -> WebFile:
    from reflecto.api.openapi import document  # noqa: PLC0415  see above
    from reflecto.api.reference_page import render_page  # noqa: PLC0415  see above

    return _file(HTML, render_page(msgspec.json.decode(_dated(document(), day)), public_url).encode())


@cache
def _llms(public_url: str) -> WebFile:
    from reflecto.api.reference_page import render_llms  # noqa: PLC0415  see above

    return _file(TEXT, render_llms(public_url).encode())


def _file(content_type: bytes, plain: bytes) -> WebFile:
    return WebFile(
        content_type=content_type,
        cache_control=REVALIDATE,
        etag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"'.encode(),
        plain=plain,
        gzipped=gzip.compress(plain, mtime=0),
    )
