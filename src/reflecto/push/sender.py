"""One push to one push service: the request, and what its reply means. Source: RFC 8030, devices.md "Push"."""

import asyncio
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Final

import msgspec

from reflecto.core.clock import Clock
from reflecto.core.events import PUSH_FAILED, PUSH_REFUSED
from reflecto.core.model import PushSubscription, Urgency
from reflecto.crypto.webpush import encrypt
from reflecto.push.addresses import Resolve, resolve
from reflecto.push.failures import ForbiddenAddressError, UnreachableError, UnsendableError
from reflecto.push.posting import Poster
from reflecto.push.vapid import Vapid, origin_of

SEND_SECONDS: Final = 15  # for all of a push: name, connection, reply
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


class PushReply(msgspec.Struct, frozen=True):
    """The outcome, and for LATER how long the push service asked to wait."""

    outcome: Outcome
    retry_after_seconds: float = 0.0


class PushMessage(msgspec.Struct, frozen=True):
    """What is pushed: JSON of at most 3993 bytes, and how long the push service keeps it."""

    plaintext: bytes
    ttl_seconds: int
    urgency: Urgency
    topic: str | None


class PushSender:
    """Posts pushes to push services, over connections that are kept for a minute."""

    def __init__(self, vapid: Vapid, clock: Clock, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._vapid = vapid
        self._clock = clock
        self._poster = Poster(allow_private=allow_private, resolve=resolve, keeps_connections=True)
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
        await self._poster.close()

    async def _send(self, subscription: PushSubscription, message: PushMessage) -> PushReply:
        origin = origin_of(subscription.endpoint)
        try:
            status, retry_after = await self._post(subscription, message)
        except ForbiddenAddressError:
            self._complain(origin, "it is at a private address; `push_allow_private` would allow that")
            return PushReply(Outcome.REFUSED)
        except UnreachableError as error:
            PUSH_FAILED.log(service=origin, reason=str(error))
            return PushReply(Outcome.LATER)
        except UnsendableError as error:
            self._complain(origin, f"it cannot be sent: {error}")
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
        headers = [
            ("Authorization", self._vapid.authorization(subscription.endpoint, self._clock.now())),
            ("Content-Encoding", "aes128gcm"),
            ("Content-Type", "application/octet-stream"),
            ("TTL", str(message.ttl_seconds)),
            ("Urgency", message.urgency),
        ]
        if message.topic is not None:
            headers.append(("Topic", message.topic))
        try:
            body = encrypt(message.plaintext, subscription.p256dh, subscription.auth)
        except ValueError as error:  # what no check before has caught
            raise UnsendableError(type(error).__name__) from error
        return await self._poster.post(subscription.endpoint, headers, body)

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
