"""One push to one push service: the request, and what its reply means. Source: RFC 8030, devices.md "Push"."""

import asyncio
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from functools import cache
from typing import Final

import httpcore

from reflecto.core.clock import Clock
from reflecto.core.events import PUSH_FAILED, PUSH_REFUSED
from reflecto.core.model import PushSubscription, Urgency
from reflecto.crypto.webpush import encrypt
from reflecto.push.addresses import CheckedBackend, ForbiddenAddressError, Resolve, resolve
from reflecto.push.vapid import Vapid, origin_of

SEND_SECONDS: Final = 15  # for all of a push: name, connection, reply
REPLY_MAX_BYTES: Final = 4_096  # read of a reply's body, so that the connection can be used again
CONNECTIONS_KEPT_SECONDS: Final = 60
COMPLAINTS_MAX: Final = 1_000  # push services complained about in the log, each once

_HINTS: Final = {
    400: "it does not take the request",
    401: "it does not accept this server's identity: is the clock right, and `push_contact` a real address?",
    403: "the subscription was made with another key (was vapid.key replaced? opening the app renews it), or it "
    "does not accept `push_contact`",
}


class Outcome(Enum):
    """How a push service replied, or that it did not."""

    ACCEPTED = auto()
    GONE = auto()  # the subscription has ended
    TOO_LARGE = auto()
    REFUSED = auto()  # the same request would be refused again
    LATER = auto()


@dataclass(frozen=True, slots=True)
class PushReply:
    """The outcome, and for LATER how long the push service asked to wait."""

    outcome: Outcome
    retry_after_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PushMessage:
    """What is pushed: JSON of at most 3993 bytes, and how long the push service keeps it."""

    plaintext: bytes
    ttl_seconds: int
    urgency: Urgency
    topic: str | None


class PushSender:
    """Posts pushes to push services, over connections kept for CONNECTIONS_KEPT_SECONDS."""

    def __init__(self, vapid: Vapid, clock: Clock, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._vapid = vapid
        self._clock = clock
        self._backend = CheckedBackend(allow_private=allow_private, resolve=resolve)
        self._pool: httpcore.AsyncConnectionPool | None = None
        self._complaints: set[tuple[str, str]] = set()

    async def send(self, subscription: PushSubscription, message: PushMessage) -> PushReply:
        """Send one push and return its outcome within SEND_SECONDS; a failure is an outcome too, never raised."""
        sending = asyncio.create_task(self._send(subscription, message))
        done = asyncio.Event()
        sending.add_done_callback(lambda _: done.set())
        try:
            await self._clock.wait(done, self._clock.now() + SEND_SECONDS)
        finally:
            if not done.is_set():
                sending.cancel()
                await asyncio.wait([sending])
        return PushReply(Outcome.LATER) if sending.cancelled() else sending.result()

    async def close(self) -> None:
        """Close the connections to push services."""
        if self._pool is not None:
            await self._pool.aclose()

    async def _send(self, subscription: PushSubscription, message: PushMessage) -> PushReply:
        origin = origin_of(subscription.endpoint)
        try:
            status, retry_after = await self._post(subscription, message)
        except ForbiddenAddressError:
            self._complain(origin, "it is at a private address; `push_allow_private` would allow that")
            return PushReply(Outcome.REFUSED)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            PUSH_FAILED.log(service=origin, reason=type(error).__name__)
            return PushReply(Outcome.LATER)
        except (ValueError, httpcore.UnsupportedProtocol) as error:  # what no check before has caught
            self._complain(origin, f"it cannot be sent: {type(error).__name__}")
            return PushReply(Outcome.REFUSED)
        outcome = outcome_of(status)
        if outcome is Outcome.REFUSED:
            self._complain(
                origin, _HINTS.get(status, "redirects are not followed" if status < 400 else "refused"), status
            )
        elif outcome is not Outcome.ACCEPTED:
            PUSH_FAILED.log(service=origin, status=status)
        return PushReply(outcome, seconds_of(retry_after, self._clock.now()))

    async def _post(self, subscription: PushSubscription, message: PushMessage) -> tuple[int, str]:
        headers: list[tuple[bytes | str, bytes | str]] = [
            ("Authorization", self._vapid.authorization(subscription.endpoint, self._clock.now())),
            ("Content-Encoding", "aes128gcm"),
            ("Content-Type", "application/octet-stream"),
            ("TTL", str(message.ttl_seconds)),
            ("Urgency", message.urgency),
        ]
        if message.topic is not None:
            headers.append(("Topic", message.topic))
        body = encrypt(message.plaintext, subscription.p256dh, subscription.auth)
        pool = await self._open_pool()
        async with pool.stream("POST", subscription.endpoint, headers=headers, content=body) as response:
            read_bytes = 0
            async for chunk in response.aiter_stream():
                read_bytes += len(chunk)
                if read_bytes > REPLY_MAX_BYTES:
                    break
        retry_after = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"")
        return response.status, retry_after.decode("latin-1")

    async def _open_pool(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            context = await asyncio.to_thread(tls_context)  # loading the certificates takes a while
            self._pool = self._pool or httpcore.AsyncConnectionPool(
                ssl_context=context,
                network_backend=self._backend,
                max_connections=None,  # as many as there are sends, which are bounded
                keepalive_expiry=CONNECTIONS_KEPT_SECONDS,
            )
        return self._pool

    def _complain(self, origin: str, hint: str, status: int | None = None) -> None:
        if (origin, hint) in self._complaints or len(self._complaints) >= COMPLAINTS_MAX:
            return
        self._complaints.add((origin, hint))
        PUSH_REFUSED.log(service=origin, status=status, reason=hint)


def outcome_of(status: int) -> Outcome:
    """Return what a push service's status means. Redirects are not followed: they could lead anywhere."""
    if 200 <= status < 300:
        return Outcome.ACCEPTED
    if status in {404, 410}:
        return Outcome.GONE
    if status == 413:
        return Outcome.TOO_LARGE
    if status in {408, 425, 429} or status >= 500:
        return Outcome.LATER
    return Outcome.REFUSED


def seconds_of(retry_after: str, now: float) -> float:
    """Return the seconds a `Retry-After` asks for, given as a number or a date; 0 where there is none."""
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return 0.0


@cache
def tls_context() -> ssl.SSLContext:
    """Return what push services' certificates are checked with, loaded once."""
    import httpx  # noqa: PLC0415  a server starts a tenth sooner without, and may never push

    return httpx.create_ssl_context()
