"""What is sent to devices, as requests. No I/O; bounds are the server's to check. Source: send.md."""

import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from reflecto.client.errors import InvalidKey
from reflecto.client.protocol import HttpRequest
from reflecto.contract.ids import is_id
from reflecto.contract.limits import IDEMPOTENCY_KEY_MAX_CHARS, REMINDER_MIN_AHEAD_SECONDS

REMINDERS_MAX_BYTES: Final = 8 * 2**20  # a thousand of the longest, all of them \u-escaped, are about 4 MB
ON_THE_WAY_SECONDS: Final = 3  # a reminder for the earliest possible moment must not come too late to be set

Actions = Mapping[str, str] | Iterable[tuple[str, str]]
Devices = str | Sequence[str]


def send_request(
    message: str,
    *,
    title: str | None,
    priority: str | None,
    tags: Sequence[str],
    url: str | None,
    url_title: str | None,
    actions: Actions,
    device: Devices | None,
    markdown: bool,
    ttl: float | timedelta | None,
    key: str | None,
) -> HttpRequest:
    """Build POST /v1/send. Raises: TypeError for one text as `tags`, InvalidKey."""
    if isinstance(tags, str):
        raise TypeError("tags must be a sequence of labels, not one text")
    pairs = actions.items() if isinstance(actions, Mapping) else actions
    return _post(
        "/v1/send",
        key,
        message=message,
        title=title,
        priority=priority,
        tags=list(tags) or None,
        url=url,
        url_title=url_title,
        actions=[{"label": label, "url": target} for label, target in pairs] or None,
        device=_selector(device),
        markdown=markdown or None,
        ttl=ttl.total_seconds() if isinstance(ttl, timedelta) else ttl,
    )


def ring_request(duration: float | timedelta | None, message: str | None, key: str | None) -> HttpRequest:
    """Build POST /v1/ring. Raises: InvalidKey."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    return _post("/v1/ring", key, duration=seconds, message=message)


def remind_request(
    message: str, at: int | str, title: str | None, device: Devices | None, key: str | None
) -> HttpRequest:
    """Build POST /v1/reminders. Raises: InvalidKey."""
    return _post("/v1/reminders", key, message=message, at=at, title=title, device=_selector(device))


def reminders_request() -> HttpRequest:
    """Build GET /v1/reminders."""
    return HttpRequest("GET", "/v1/reminders", reply_max_bytes=REMINDERS_MAX_BYTES)


def cancel_reminder_request(reminder_id: str) -> HttpRequest:
    """Build DELETE /v1/reminders/{id}. Raises: ValueError for what is no reminder's id."""
    if not is_id(reminder_id, "rem"):
        raise ValueError("a reminder's id is rem_ and 32 hex digits")
    return HttpRequest("DELETE", f"/v1/reminders/{reminder_id}")


def document_request(
    filename: str, content: str, title: str | None, device: Devices | None, key: str | None
) -> HttpRequest:
    """Build POST /v1/documents. Raises: InvalidKey."""
    return _post("/v1/documents", key, filename=filename, content=content, title=title, device=_selector(device))


def devices_request() -> HttpRequest:
    """Build GET /v1/devices."""
    return HttpRequest("GET", "/v1/devices")


def health_request() -> HttpRequest:
    """Build a request whose reply tells the server's time in its Date header, and what it knows."""
    return HttpRequest("GET", "/healthz")


def moment(at: datetime | int | str) -> int | str:
    """Return what the API takes: whole Unix seconds, or RFC 3339 as it is. Raises: ValueError without a time zone."""
    if not isinstance(at, datetime):
        return at
    if at.tzinfo is None:
        raise ValueError("a datetime needs a time zone; .astimezone() gives it this machine's")
    return math.ceil(at.timestamp())


def moment_ahead(ahead: timedelta, server_now: float) -> int:
    """Return Unix seconds so far ahead of the server's clock: never earlier, and never too near to be accepted.

    `server_now` may be a second behind, as HTTP dates are whole seconds.
    """
    seconds = ahead.total_seconds()
    if REMINDER_MIN_AHEAD_SECONDS <= seconds < REMINDER_MIN_AHEAD_SECONDS + ON_THE_WAY_SECONDS:
        seconds = REMINDER_MIN_AHEAD_SECONDS + ON_THE_WAY_SECONDS
    return math.ceil(server_now + seconds)


def checked_key(key: str | None) -> str:
    """Return the key as a header carries it, without spaces around it; a new one for None. Raises: InvalidKey."""
    if key is None:
        return str(uuid.uuid4())
    bare = key.strip(" ")
    if not (1 <= len(bare) <= IDEMPOTENCY_KEY_MAX_CHARS and bare.isascii() and bare.isprintable()):
        raise InvalidKey
    return bare


def _post(path: str, key: str | None, **fields: Any) -> HttpRequest:
    """Build a request under its key. ASCII JSON carries any text; a lone surrogate the server refuses."""
    given = {name: value for name, value in fields.items() if value is not None}
    return HttpRequest("POST", path, json.dumps(given).encode(), idempotency_key=checked_key(key))


def _selector(device: Devices | None) -> str | None:
    return device if device is None or isinstance(device, str) else ",".join(device)
