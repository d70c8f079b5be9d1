"""Reading what a server refuses with, and what kept a request from getting there."""

import httpx

from reflecto.contract import refusals
from reflecto.contract.refusals import Refusal


def read_refusal(response: httpx.Response) -> Refusal | None:
    """Return the server's refusal, or None where something else replied: also with a code this version does not know.

    A tap that is refused is lost, so only what is understood is believed.
    """
    refusal = refusals.read_refusal(response.status_code, response.content)
    return refusal if refusal and refusal.is_known else None


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
