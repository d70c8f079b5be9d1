"""Requests as plain data, and what each of them carries. No I/O. Source: ask.md."""

import json
import math
import re
import urllib.parse
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Final

from reflecto import RELEASE
from reflecto.client import errors
from reflecto.client.given import Given, given_fields
from reflecto.contract.ids import TOKEN_PATTERN, is_id
from reflecto.contract.limits import DEFAULT_CHOICES, EXPIRES_IN_DEFAULT_SECONDS

REPLY_MAX_BYTES: Final = 262_144  # the largest state, all of it \u-escaped, is about 20 KB
REQUEST_TIMEOUT_SECONDS: Final = 15.0  # to connect, send and get a reply that is not held back
HOLD_MAX_SECONDS: Final = 50  # a long poll; proxies commonly cut an idle connection at 60 s


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`path` is relative to the base URL; `timeout_seconds` bounds each of connecting, sending and replying.

    `idempotency_key`: sent along with it, the same at each try.
    """

    method: str
    path: str
    body: bytes | None = field(default=None, repr=False)
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS
    reply_max_bytes: int = REPLY_MAX_BYTES
    idempotency_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Its own headers, beside those of every request."""
        kind = {} if self.body is None else {"Content-Type": "application/json"}
        return kind if self.idempotency_key is None else {**kind, "Idempotency-Key": self.idempotency_key}

    def within(self, seconds: float) -> "HttpRequest":
        """Return the same request with a timeout of at most `seconds`, though never below one second."""
        return replace(self, timeout_seconds=max(1.0, min(self.timeout_seconds, seconds)))


@dataclass(frozen=True, slots=True)
class HttpReply:
    """Header names are lower-case. A body that was cut off at `reply_max_bytes` is no JSON any more."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def seconds_of(self, name: str) -> float | None:
        """Return a header that is a number of seconds or an HTTP date, the latter against this reply's own Date."""
        text = self.headers.get(name, "")
        if re.fullmatch(r"[0-9]{1,9}", text):
            return float(text)
        then, now = _unix_seconds(text), self.sent_at
        return None if then is None or now is None else max(0.0, then - now)

    @property
    def sent_at(self) -> float | None:
        """The server's clock (Unix seconds), from the Date header."""
        return _unix_seconds(self.headers.get("date", ""))


@dataclass(frozen=True, slots=True)
class Draft:
    """A question to ask. What is left open is filled in here, so that the answer can be checked against it."""

    question: str
    choices: tuple[str, ...]
    expires_in_seconds: int
    idempotency_key: str
    tether_seconds: int | None = None
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def make(
        cls,
        question: str,
        choices: Sequence[str] | None,
        expires_in: int | None,
        key: str | None,
        tether: int | None = None,
        given: Given | None = None,
    ) -> "Draft":
        """Fill in the defaults. Bounds are the server's to check.

        Raises: TypeError for one text as `choices`, one block as `details`, or a field that no question has.
        """
        if isinstance(choices, str):
            raise TypeError("choices must be a sequence of labels, not one text")
        return cls(
            question,
            tuple(DEFAULT_CHOICES if choices is None else choices),
            EXPIRES_IN_DEFAULT_SECONDS if expires_in is None else expires_in,
            str(uuid.uuid4()) if key is None else key,
            tether,
            given_fields(given or {}),
        )


def base_url(text: str) -> str:
    """Return a server's URL without its trailing slash; a path before the API's own is kept.

    Raises: InvalidSettings, with a message that does not repeat the URL, which may hold a password.
    """
    url = text.strip()
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or re.search(r"[\s\\\"<>]", url):
        raise errors.InvalidSettings("the server's URL must look like https://reflecto.example")
    if "@" in parts.netloc:
        raise errors.InvalidSettings(
            "the server's URL must not hold a user name or password; the token is all it needs"
        )
    if "?" in url or "#" in url:
        raise errors.InvalidSettings("the server's URL must end before any ? or #")
    return url.rstrip("/")


def common_headers(token: str) -> dict[str, str]:
    """Return what every request carries. White space around a pasted token does not matter.

    Raises: InvalidSettings, with a message that does not repeat the token.
    """
    stripped = token.strip()
    if not TOKEN_PATTERN.fullmatch(stripped) or not stripped.startswith("rfk_"):
        raise errors.InvalidSettings(
            "the token must be a sender token: rfk_live_ or rfk_test_ and 32 letters or digits"
        )
    return {
        "Authorization": f"Bearer {stripped}",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # replies are small, and what is not compressed cannot unfold
        "User-Agent": f"reflecto/{RELEASE}",
    }


def is_test_token(token: str) -> bool:
    """Tell whether questions under this token are simulated, and come to no phone."""
    return token.strip().startswith("rfk_test_")


def create_request(draft: Draft) -> HttpRequest:
    """Build POST /v1/interactions. ASCII JSON carries any text: refusing a lone surrogate is up to the server."""
    fields: dict[str, object] = {
        "question": draft.question,
        "choices": draft.choices,
        "expires_in": draft.expires_in_seconds,
        "idempotency_key": draft.idempotency_key,
    }
    if draft.tether_seconds is not None:
        fields["tether"] = draft.tether_seconds
    fields |= draft.given
    return HttpRequest("POST", "/v1/interactions", json.dumps(fields).encode())


def state_request(question_id: str, hold_seconds: int = 0) -> HttpRequest:
    """Build GET /v1/interactions/{id}, held back by the server for up to `hold_seconds` while it is pending."""
    query = f"?wait={hold_seconds}" if hold_seconds else ""
    return HttpRequest("GET", _path_of(question_id) + query, timeout_seconds=REQUEST_TIMEOUT_SECONDS + hold_seconds)


def cancel_request(question_id: str) -> HttpRequest:
    """Build DELETE /v1/interactions/{id}."""
    return HttpRequest("DELETE", _path_of(question_id))


def simulate_request(question_id: str, choice: str) -> HttpRequest:
    """Build POST /v1/interactions/{id}/simulate."""
    return HttpRequest("POST", f"{_path_of(question_id)}/simulate", json.dumps({"choice": choice}).encode())


def _path_of(question_id: str) -> str:
    if not is_id(question_id, "int"):
        raise ValueError("a question's id is int_ and 32 hex digits")
    return f"/v1/interactions/{question_id}"


def _unix_seconds(http_date: str) -> float | None:
    try:
        seconds = parsedate_to_datetime(http_date).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None
