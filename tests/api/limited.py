"""Servers whose limits are few enough to be reached."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from reflecto.core.quotas import LimitProfile
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server

NO_LIMITS: Final = LimitProfile(token_burst=None, token_monthly=None, receiver_daily=None, ip_minute=None, ip_hour=None)


@dataclass(frozen=True, slots=True)
class Limited:
    """A server, the owner's phone and its Default token."""

    server: RunningServer
    phone: DeviceActor
    sender: Program
    keys: BoxKeys


@asynccontextmanager
async def limited(
    folder: Path,
    clock: FakeClock,
    *,
    trusted_proxies: Sequence[str] = (),
    wrap: dict[str, Any] | None = None,
    **layers: int,
) -> AsyncIterator[Limited]:
    """Serve with these layers limited and no other."""
    keys = BoxKeys.generate()
    profile = msgspec.structs.replace(NO_LIMITS, **layers)
    options: dict[str, Any] = {"limits": profile, "keys": keys, "trusted_proxies": trusted_proxies} | (wrap or {})
    async with run_server(folder, clock, **options) as server:
        phone = await enroll(server)
        yield Limited(server, phone, phone.default_program(), keys)


def standing(reply: httpx.Response) -> tuple[str, int, int, int]:
    """Return what a reply tells of the tightest layer: resource, limit, remaining, reset."""
    head = {name: reply.headers[f"x-ratelimit-{name}"] for name in ("resource", "limit", "remaining", "reset")}
    return head["resource"], int(head["limit"]), int(head["remaining"]), int(head["reset"])


def assert_limited(reply: httpx.Response, resource: str, retry_after: int) -> None:
    """Check that it is a 429 of this layer in its whole form."""
    assert reply.status_code == 429, reply.text
    assert reply.json()["error"]["code"] == "rate_limit_exceeded"
    assert standing(reply)[0] == resource
    assert standing(reply)[2] == 0
    assert int(reply.headers["retry-after"]) == retry_after
