"""The API's description as files: for programs, for people and for language models.

They are made in threads when they are first asked for: that takes long, and to import what makes them too, a tenth of a
second by which the server starts sooner.
"""

import asyncio
import gzip
import hashlib
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Final

import msgspec

from reflecto.api.webapp import REVALIDATE, WebFile
from reflecto.contract.messages import REMINDER_EXAMPLE
from reflecto.core.clock import Clock
from reflecto.core.enrolment import PUBLIC_URL_FACT
from reflecto.core.ports.store import Store

HTML: Final = b"text/html; charset=utf-8"
CSS: Final = b"text/css; charset=utf-8"
DAYS_KEPT: Final = 4
TEXT: Final = b"text/plain; charset=utf-8"


class Reference:
    """Makes the files. `public_path` is before every path of the API, as the document says it."""

    def __init__(self, store: Store, clock: Clock, public_path: str = "") -> None:
        self._store = store
        self._clock = clock
        self._public_path = public_path

    async def openapi_json(self) -> WebFile:
        """Return the document as JSON."""
        return await asyncio.to_thread(_document, self._public_path, _day_to_come(self._clock))

    async def openapi_yaml(self) -> WebFile:
        """Return the document as YAML."""
        return await asyncio.to_thread(_document_yaml, self._public_path, _day_to_come(self._clock))

    async def page(self) -> WebFile:
        """Return the page for people."""
        return await asyncio.to_thread(_page, await self._public_url(), _day_to_come(self._clock))

    async def page_style(self) -> WebFile:
        """Return the page's style."""
        return await asyncio.to_thread(_style)

    async def llms(self) -> WebFile:
        """Return the page for language models."""
        return await asyncio.to_thread(_llms, await self._public_url())

    async def _public_url(self) -> str:
        return await self._store.recall(PUBLIC_URL_FACT) or ""


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
