"""Reading what a server refuses with, and what kept a request from getting there."""

from typing import Any, NamedTuple

import httpx
import msgspec

from reflecto.contract.json_text import UnreadableJsonError, read_json


class Refusal(NamedTuple):
    """An error reply in Reflecto's own form. A reply in any other form comes from something in between."""

    status: int
    code: str
    message: str
    details: dict[str, Any]
    retry_after_seconds: float | None


class _Body(msgspec.Struct):
    code: str
    message: str = ""
    details: dict[str, Any] = {}


class _Reply(msgspec.Struct):
    error: _Body | str  # 401 is flat
    message: str = ""


def read_refusal(response: httpx.Response) -> Refusal | None:
    """Return the refusal in an error reply, or None if the reply is not in the form of one."""
    try:
        reply = read_json(response.content, _Reply)
    except UnreadableJsonError:
        return None
    body = reply.error if isinstance(reply.error, _Body) else _Body(reply.error, reply.message)
    return Refusal(
        response.status_code, body.code, body.message or body.code, body.details, retry_after_seconds(response)
    )


def retry_after_seconds(response: httpx.Response) -> float | None:
    """Return the reply's `Retry-After` where it is a number of seconds."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None


def describe_failure(error: Exception) -> str:
    """Return in a few words what kept a request from its reply."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate is not trusted here"
    match error:
        case httpx.ConnectTimeout() | httpx.ConnectError():
            return "cannot be reached"
        case httpx.TimeoutException():
            return "does not reply"
        case httpx.InvalidURL() | httpx.UnsupportedProtocol() | UnicodeError():
            return "is not a usable URL"
        case _:
            return f"the connection broke ({type(error).__name__})"
