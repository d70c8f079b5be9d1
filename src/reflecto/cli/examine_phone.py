"""Checks of what a proxy does to event streams and long polls, in the name of a phone in this terminal."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import httpx

from reflecto.cli.findings import Finding, failed, ok, skipped
from reflecto.client.errors import ReflectoError
from reflecto.client.protocol import HOLD_MAX_SECONDS
from reflecto.client.sync import Reflecto
from reflecto.contract.limits import EXPIRES_IN_MIN_SECONDS
from reflecto.contract.tokens import CreateTokenRequest
from reflecto.phone.state import Identity, PhoneState
from reflecto.phone.token_calls import TokenCallError, TokenCalls

FIRST_BYTE_SECONDS: Final = 5.0  # the server writes a comment at once, so that this can be told
_REQUEST_SECONDS: Final = 15.0
_UNBUFFERED: Final = (
    "switch its response buffering off for /v1/sync (nginx: proxy_buffering off; and keep X-Accel-Buffering)"
)
_NO_PHONE: Final = "it needs a phone of this server in this terminal: `reflecto invite`, `reflecto phone`, or --state"


def check_stream(phone: PhoneState | None, *, first_byte_seconds: float = FIRST_BYTE_SECONDS) -> Iterator[Finding]:
    """Check that the first byte of an event stream gets through at once; nothing is taken from the phone's queue."""
    identity = phone.identity if phone is not None else None
    if phone is None or identity is None:
        yield skipped("event stream", "not checked", _NO_PHONE)
        return
    headers = {"Authorization": f"Bearer {identity.device_token}"}
    address = f"{identity.url}/v1/sync?after={phone.cursor}"
    timeout = httpx.Timeout(_REQUEST_SECONDS, read=first_byte_seconds)
    started = time.monotonic()
    try:
        with httpx.stream("GET", address, headers=headers, timeout=timeout) as response:
            if response.status_code == httpx.codes.UNAUTHORIZED:
                yield skipped("event stream", "not checked: the phone in this terminal was removed", _NO_PHONE)
                return
            if response.status_code != httpx.codes.OK:
                yield failed("event stream", f"status {response.status_code}", "does the proxy let /v1/sync through?")
                return
            next(response.iter_raw(), b"")
    except httpx.ReadTimeout:
        message = f"nothing arrives within {first_byte_seconds:.0f} s: a proxy buffers it"
        yield failed("event stream", message, _UNBUFFERED)
    except httpx.HTTPError as error:
        yield failed("event stream", f"it broke: {str(error) or type(error).__name__}", _UNBUFFERED)
    else:
        yield ok("event stream", f"the first byte came after {(time.monotonic() - started) * 1000:.0f} ms")


def check_long_poll(
    url: str, token: str | None, identity: Identity | None, *, wanted: bool, hold_seconds: int = HOLD_MAX_SECONDS
) -> Iterator[Finding]:
    """Check that a reply may be held back as long as `reflecto ask` has it held back.

    It asks with a test token, which reaches no phone: the one given, or one made for this and revoked.
    """
    if not wanted:
        yield skipped("long poll", "not checked", "--full does; it takes about a minute")
        return
    try:
        with _test_token(token, identity) as test_token:
            if test_token is None:
                yield skipped("long poll", "not checked", f"{_NO_PHONE}; or give a test token")
                return
            yield _hold(url, test_token, hold_seconds)
    except (ReflectoError, TokenCallError) as error:
        yield failed("long poll", str(error), "see the server's log")


def _hold(url: str, token: str, hold_seconds: int) -> Finding:
    with Reflecto(url, token, retry_for=0) as reflecto:
        question = reflecto.create(
            "reflecto doctor",
            expires_in=max(EXPIRES_IN_MIN_SECONDS, hold_seconds + 30),
            idempotency_key=str(uuid.uuid4()),
        )
        started = time.monotonic()
        try:
            reply = httpx.get(
                f"{url}/v1/interactions/{question.id}",
                params={"wait": hold_seconds},
                headers={"Authorization": f"Bearer {token.strip()}"},
                timeout=hold_seconds + _REQUEST_SECONDS,
            )
            cut = None if reply.status_code == 200 else f"status {reply.status_code}"
        except httpx.HTTPError as error:
            cut = str(error) or type(error).__name__
        took = time.monotonic() - started
        reflecto.cancel(question)
    if cut is None:
        return ok("long poll", f"a reply was held back for {took:.0f} s")
    advice = (
        "let the proxy wait at least 75 s for a reply (nginx: proxy_read_timeout 75s;); until then answers come late"
    )
    return failed("long poll", f"cut after {took:.0f} s of {hold_seconds}: {cut}", advice)


@contextmanager
def _test_token(token: str | None, identity: Identity | None) -> Iterator[str | None]:
    if token is not None and token.strip().startswith("rfk_test_"):
        yield token
    elif identity is None:
        yield None
    else:
        with httpx.Client() as http:
            calls = TokenCalls(http, identity)
            made = calls.create(CreateTokenRequest(label="reflecto doctor", test=True))
            try:
                yield made.token
            finally:
                calls.revoke(made.id)
