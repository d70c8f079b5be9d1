"""What is made of a message of Pushover's clients: cut, mapped, with a caveat for whatever is left out. Pure.

Source: api.md "POST /v1/messages.json".
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.envelopes import ImagePayload
from reflecto.contract.errors import INVALID_MESSAGE, INVALID_PRIORITY
from reflecto.contract.limits import (
    CALLBACK_URL_MAX_CHARS,
    EMERGENCY_EXPIRE_DEFAULT_SECONDS,
    EMERGENCY_EXPIRE_MAX_SECONDS,
    EMERGENCY_RETRY_DEFAULT_SECONDS,
    EMERGENCY_RETRY_MIN_SECONDS,
    EMERGENCY_TAGS_MAX,
    PUSHOVER_MESSAGE_MAX_CHARS,
    PUSHOVER_TITLE_MAX_CHARS,
    PUSHOVER_URL_MAX_CHARS,
    PUSHOVER_URL_TITLE_MAX_CHARS,
    SOUND_MAX_CHARS,
)
from reflecto.contract.links import read_link
from reflecto.contract.pushover import PushoverRequest
from reflecto.contract.tokens import PRIORITIES, Priority
from reflecto.core.images import image_of, image_of_base64

LOWEST_PRIORITY: Final = -2
EMERGENCY_PRIORITY: Final = 2
TIMESTAMP_MAX: Final = 253_402_300_799  # the end of the year 9999: calendars go no further
TTL_MAX_SECONDS: Final = 31_536_000  # a year, as at Pushover
TAGS_READ: Final = 256  # blank ones too; there may be 160,000 in a body, and to look at all would hold up everybody
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_UNFINISHED_MARKUP: Final = re.compile(r"(<[^<>]*|&#?\w{0,10})\Z")


class EmergencyTerms(msgspec.Struct, frozen=True):
    """How an emergency goes on: every `retry` seconds, for `expire` seconds; whom to call; what to cancel it by."""

    retry: int
    expire: int
    callback: str | None
    tags: tuple[str, ...]


class PushoverMessage(msgspec.Struct, frozen=True):
    """A message within all bounds. `body` are the fields of `contract.envelopes.Body`."""

    body: dict[str, Any]
    priority: Priority
    device: str
    ttl_seconds: int | None
    caveats: tuple[Caveat, ...]
    emergency: EmergencyTerms | None = None


def prepare(
    request: PushoverRequest, attachment: bytes | None, is_callable: Callable[[str], bool], *, dropped: bool = False
) -> PushoverMessage:
    """Return the message, and a caveat for each thing that is not as it was sent.

    `attachment`: a file that came with it; `dropped`: one that was too large to be read. `is_callable` tells whether an
    address may be called back. Raises: ApiError `invalid_message`, `invalid_priority`.
    """
    if not request.message:
        raise ApiError(INVALID_MESSAGE)
    if not LOWEST_PRIORITY <= request.priority <= EMERGENCY_PRIORITY:
        raise ApiError(INVALID_PRIORITY, "priority must be -2, -1, 0, 1 or 2")
    caveats: list[Caveat] = []
    is_html = _is_true(request.html)
    if is_html and _is_true(request.monospace):
        caveats.append(Caveat("monospace_dropped", "A message is either html or monospace; it is html"))
    is_emergency = request.priority == EMERGENCY_PRIORITY
    url = _url(request.url, caveats)
    given = {
        "message": _cut(request.message, PUSHOVER_MESSAGE_MAX_CHARS, "message", caveats, is_html=is_html),
        "title": _cut(request.title, PUSHOVER_TITLE_MAX_CHARS, "title", caveats) if request.title else None,
        "url": url,
        "url_title": _cut(request.url_title, PUSHOVER_URL_TITLE_MAX_CHARS, "url_title", caveats)
        if url and request.url_title
        else None,
        "html": is_html,
        "monospace": not is_html and _is_true(request.monospace),
        "timestamp": _number(request.timestamp, 1, TIMESTAMP_MAX, "timestamp", caveats),
        "image": _image(request, attachment, caveats, dropped=dropped),
        "sound": str(request.sound).strip()[:SOUND_MAX_CHARS] or None if request.sound else None,
    }
    return PushoverMessage(
        body={name: value for name, value in given.items() if value},
        priority="urgent" if is_emergency else PRIORITIES[request.priority - LOWEST_PRIORITY],
        device=request.device or "all",
        # An emergency has an end of its own.
        ttl_seconds=None if is_emergency else _number(request.ttl, 1, TTL_MAX_SECONDS, "ttl", caveats),
        emergency=_terms(request, is_callable, caveats) if is_emergency else None,
        caveats=tuple(caveats),
    )


def tags_of(given: object) -> list[str]:
    """Return the first tags given as a list, or as a text with commas between them."""
    parts = given if isinstance(given, list) else str(given or "").split(",", TAGS_READ)
    return [tag for tag in (str(part).strip() for part in parts[:TAGS_READ]) if tag]


def _is_true(value: object) -> bool:
    return str(value).strip().lower() in _TRUE


def _cut(text: str, max_chars: int, name: str, caveats: list[Caveat], *, is_html: bool = False) -> str:
    if len(text) <= max_chars:
        return text
    caveats.append(Caveat(f"{name}_cut", f"{name} is cut to {max_chars} characters; it had {len(text)}"))
    cut = text[:max_chars]
    return (_UNFINISHED_MARKUP.sub("", cut) if is_html else cut) or cut


def _url(given: str | None, caveats: list[Caveat]) -> str | None:
    if not given:
        return None
    url = given.strip().replace(" ", "%20")
    if read_link(url) is None:
        caveats.append(Caveat("url_dropped", "url is no address that a phone may open"))
        return None
    return _cut(url, PUSHOVER_URL_MAX_CHARS, "url", caveats)


def _number(given: object, least: int, most: int, name: str, caveats: list[Caveat]) -> int | None:
    """Return the number, whole, at most `most`; None without one, or where it is none or less than `least`."""
    if given is None or given == "":
        return None
    number = _finite(given)
    if number is None or number < least or (name == "timestamp" and number > most):
        caveats.append(Caveat(f"{name}_dropped", f"{name} must be a number from {least} to {most}; it is left out"))
        return None
    return int(min(number, most))


def _finite(given: object) -> float | None:
    try:
        number = float(str(given)) if isinstance(given, (str, int, float)) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _image(
    request: PushoverRequest, attachment: bytes | None, caveats: list[Caveat], *, dropped: bool
) -> ImagePayload | None:
    image = image_of(attachment) if attachment else None
    if image is None and request.attachment_base64:
        image = image_of_base64(str(request.attachment_base64))
    if image is None and (dropped or attachment or request.attachment_base64):
        caveats.append(Caveat("attachment_dropped", "Only png, jpeg, gif and webp of at most 40 KiB are passed on"))
    return image


def _terms(request: PushoverRequest, is_callable: Callable[[str], bool], caveats: list[Caveat]) -> EmergencyTerms:
    callback = str(request.callback).strip() if request.callback else None
    if callback and (len(callback) > CALLBACK_URL_MAX_CHARS or not is_callable(callback)):
        caveats.append(Caveat("callback_dropped", "callback must be an https URL at a public address"))
        callback = None
    tags = tags_of(request.tags)
    if len(tags) > EMERGENCY_TAGS_MAX:
        caveats.append(Caveat("tags_trimmed", f"Only the first {EMERGENCY_TAGS_MAX} tags are kept"))
    return EmergencyTerms(
        retry=_within(
            request.retry,
            (EMERGENCY_RETRY_MIN_SECONDS, EMERGENCY_EXPIRE_MAX_SECONDS),
            EMERGENCY_RETRY_DEFAULT_SECONDS,
            "retry",
            caveats,
        ),
        expire=_within(
            request.expire, (1, EMERGENCY_EXPIRE_MAX_SECONDS), EMERGENCY_EXPIRE_DEFAULT_SECONDS, "expire", caveats
        ),
        callback=callback,
        tags=tuple(dict.fromkeys(tags[:EMERGENCY_TAGS_MAX])),
    )


def _within(given: object, bounds: tuple[int, int], default: int, name: str, caveats: list[Caveat]) -> int:
    number = _finite(given)
    value = default if number is None else int(min(max(number, bounds[0]), bounds[1]))
    if value != number:
        message = f"{name} must be {bounds[0]} to {bounds[1]} seconds; it is {value}"
        caveats.append(Caveat(f"{name}_adjusted", message))
    return value
