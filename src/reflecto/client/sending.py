"""The calls that send, as flows. Each request has an Idempotency-Key, so that the server knows a repeat of it.

A server older than these keys does not. So after a lost reply it is asked first; where it knows none, the request is
not sent again, and OutcomeUnknown says so.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from reflecto.client import errors
from reflecto.client.flows import Flow, Pause, T, try_until
from reflecto.client.outgoing import (
    Devices,
    cancel_reminder_request,
    checked_key,
    health_request,
    moment_ahead,
    remind_request,
)
from reflecto.client.protocol import HttpReply, HttpRequest
from reflecto.client.results import ReminderSet
from reflecto.client.retry import RetryRules, is_surely_not_accepted
from reflecto.client.sent_replies import read_clock, read_knows_keys, read_nothing, read_reminder_set


def submit(request: HttpRequest, read: Callable[[HttpReply], T], *, now: float, rules: RetryRules) -> Flow[T]:
    """Send a request so that it takes effect once, however often a reply is lost.

    Raises: OutcomeUnknown, Unreachable if no connection came about, ApiError, BrokenContract.
    """
    until = now + rules.give_up_seconds
    try:
        result, _, _ = yield from try_until(
            partial(_same, request), read, now=now, until=until, rules=rules, may_repeat=is_surely_not_accepted
        )
    except (errors.Unreachable, errors.ServerError) as error:
        if is_surely_not_accepted(error):
            raise
        doubt = error
    else:
        return result
    try:
        return (yield from _repeat(request, read, doubt, until=until, rules=rules))
    except (errors.Unreachable, errors.ServerError) as error:
        raise errors.OutcomeUnknown(f"it may have been accepted or not: {error}") from error


def _repeat(
    request: HttpRequest,
    read: Callable[[HttpReply], T],
    doubt: errors.Unreachable | errors.ServerError,
    *,
    until: float,
    rules: RetryRules,
) -> Flow[T]:
    """Send again what may have been accepted, if the server knows its key. Raises: `doubt` where it does not."""
    delay = rules.delay_seconds(doubt, 0, is_waiting=False)
    if delay is None or not rules.give_up_seconds:
        raise doubt
    now = (yield Pause(delay, because=doubt)).now
    try:
        knows_keys, _, now = yield from try_until(
            partial(_same, health_request()), read_knows_keys, now=now, until=until, rules=rules
        )
    except errors.ReflectoError:
        raise doubt from None
    if not knows_keys:
        raise doubt
    result, _, _ = yield from try_until(partial(_same, request), read, now=now, until=until, rules=rules)
    return result


def fetch(request: HttpRequest, read: Callable[[HttpReply], T], *, now: float, rules: RetryRules) -> Flow[T]:
    """Read something, as often as it takes. Raises: ApiError, BrokenContract, Unreachable."""
    result, _, _ = yield from try_until(
        partial(_same, request), read, now=now, until=now + rules.give_up_seconds, rules=rules
    )
    return result


def remind_in(
    message: str,
    ahead: timedelta,
    *,
    title: str | None,
    device: Devices | None,
    key: str | None,
    local_now: float,
    now: float,
    rules: RetryRules,
) -> Flow[ReminderSet]:
    """Set a reminder by the server's clock, which is asked first: this machine's may be wrong.

    `local_now` (Unix seconds) stands in where the reply has no Date. Raises: InvalidKey, else as `submit`.
    """
    key = checked_key(key)  # before anything is sent
    server_now = yield from fetch(health_request(), read_clock, now=now, rules=rules)
    at = moment_ahead(ahead, local_now if server_now is None else server_now)
    request = remind_request(message, at, title, device, key)
    return (yield from submit(request, read_reminder_set, now=now, rules=rules))


def cancel_reminder(reminder_id: str, *, now: float, rules: RetryRules) -> Flow[None]:
    """Drop a reminder. That it is gone after a lost reply is what was wanted.

    Raises: NotFound if it has fired or there is none, other ApiErrors, BrokenContract, Unreachable.
    """
    failures: list[errors.ReflectoError] = []
    try:
        yield from try_until(
            partial(_same, cancel_reminder_request(reminder_id)),
            read_nothing,
            now=now,
            until=now + rules.give_up_seconds,
            rules=rules,
            failures=failures,
        )
    except errors.NotFound:
        if all(is_surely_not_accepted(failure) for failure in failures[:-1]):
            raise


def _same(request: HttpRequest, _now: float, _attempt: int) -> HttpRequest:
    return request
