"""Calling back the senders of emergencies: over https, to public addresses only. Source: api.md."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from reflecto.core.clock import Clock
from reflecto.push.addresses import Resolve, resolve
from reflecto.push.failures import ForbiddenAddressError, UnreachableError, UnsendableError
from reflecto.push.posting import Poster
from reflecto.push.vapid import origin_of

CALL_SECONDS: Final = 10  # for all of a call: name, connection, reply

logger = logging.getLogger(__name__)


class HttpsCallbacks:
    """`core.ports.callbacks.Callbacks`, one connection a call: they are seldom."""

    def __init__(self, clock: Clock, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._clock = clock
        self._poster = Poster(allow_private=allow_private, resolve=resolve, keeps_connections=False)

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
        await self._poster.close()

    async def _post(self, url: str, form: Mapping[str, str]) -> bool:
        origin = origin_of(url)  # a path or query may hold a secret
        headers = [("Content-Type", "application/x-www-form-urlencoded")]
        try:
            status, _ = await self._poster.post(url, headers, urlencode(form).encode())
        except ForbiddenAddressError:
            logger.warning("callback to %s refused: its address is private; `callback_allow_private` allows it", origin)
            return False
        except (UnreachableError, UnsendableError) as error:
            logger.info("callback to %s failed: %s", origin, error)
            return False
        if not 200 <= status < 300:
            logger.info("callback to %s: HTTP %d", origin, status)
        return 200 <= status < 300
