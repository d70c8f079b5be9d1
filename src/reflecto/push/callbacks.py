"""Calling back the senders of emergencies: over https, to public addresses only. Source: api.md."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import httpcore

from reflecto.core.clock import Clock
from reflecto.push.addresses import CheckedBackend, ForbiddenAddressError, Resolve, resolve
from reflecto.push.sender import tls_context
from reflecto.push.vapid import origin_of

CALL_SECONDS: Final = 10  # for all of a call: name, connection, reply

logger = logging.getLogger(__name__)


class HttpsCallbacks:
    """`core.ports.callbacks.Callbacks`, one connection a call: they are seldom."""

    def __init__(self, clock: Clock, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._clock = clock
        self._backend = CheckedBackend(allow_private=allow_private, resolve=resolve)
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def post(self, url: str, form: Mapping[str, str]) -> bool:
        """Post the form and tell whether it was taken (2xx). Redirects are not followed: they could lead anywhere."""
        calling = asyncio.create_task(self._post(url, form))
        done = asyncio.Event()
        calling.add_done_callback(lambda _: done.set())
        try:
            await self._clock.wait(done, self._clock.now() + CALL_SECONDS)
        finally:
            if not done.is_set():
                calling.cancel()
                await asyncio.wait([calling])
        return False if calling.cancelled() else calling.result()

    async def close(self) -> None:
        """Close the connections to senders."""
        if self._pool is not None:
            await self._pool.aclose()

    async def _post(self, url: str, form: Mapping[str, str]) -> bool:
        origin = origin_of(url)  # a path or query may hold a secret
        headers = [("Content-Type", "application/x-www-form-urlencoded")]
        try:
            pool = await self._open_pool()
            async with pool.stream("POST", url, headers=headers, content=urlencode(form).encode()) as response:
                status = response.status
        except ForbiddenAddressError:
            logger.warning("callback to %s refused: its address is private; `callback_allow_private` allows it", origin)
            return False
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.TimeoutException,
            httpcore.UnsupportedProtocol,
            OSError,
            ValueError,
        ) as error:
            logger.info("callback to %s failed: %s", origin, type(error).__name__)
            return False
        if not 200 <= status < 300:
            logger.info("callback to %s: HTTP %d", origin, status)
        return 200 <= status < 300

    async def _open_pool(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            context = await asyncio.to_thread(tls_context)  # loading the certificates takes a while
            self._pool = self._pool or httpcore.AsyncConnectionPool(
                ssl_context=context, network_backend=self._backend, max_connections=None, max_keepalive_connections=0
            )
        return self._pool
