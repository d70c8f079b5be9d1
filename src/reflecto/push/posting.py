"""Posting to addresses that others chose."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reflecto.push.addresses import Resolve, resolve

if TYPE_CHECKING:
    from reflecto.push.https import HttpsPool


class Poster:
    """Posts over TLS, to public addresses only unless `allow_private`."""

    def __init__(self, *, allow_private: bool, resolve: Resolve = resolve, keeps_connections: bool) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._keeps_connections = keeps_connections
        self._pool: HttpsPool | None = None

    async def post(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> tuple[int, str]:
        """Post and return the reply's status and its `Retry-After`, empty where it has none.

        Raises: ForbiddenAddressError, UnreachableError, UnsendableError.
        """
        if self._pool is None:
            opened = await asyncio.to_thread(self._open)  # loading library and certificates takes a while
            self._pool = self._pool or opened
        return await self._pool.post(url, headers, body)

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.close()

    def _open(self) -> HttpsPool:
        from reflecto.push.https import HttpsPool  # noqa: PLC0415  a server starts a tenth sooner, and may never push

        return HttpsPool(
            allow_private=self._allow_private, resolve=self._resolve, keeps_connections=self._keeps_connections
        )
