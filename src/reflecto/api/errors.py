"""Errors as replies. Source: api.md "Errors", "Limits"."""

from typing import Any

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import PAYLOAD_TOO_LARGE
from reflecto.core.quotas import RateLimitedError, Standing


def reply_parts(error: ApiError) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return status, body and headers. 401 is flat, and `invalid_token` carries the code alone."""
    headers: dict[str, str] = {}
    if error.retry_after_seconds is not None:
        headers["retry-after"] = str(error.retry_after_seconds)
    if isinstance(error, RateLimitedError):
        headers |= standing_headers(error.standing)
    if error.spec.status == 401:
        headers["www-authenticate"] = "Bearer"
        body = {"error": error.spec.code}
        return 401, body | ({"message": error.message} if error.spec.code == "missing_token" else {}), headers
    if error.spec is PAYLOAD_TOO_LARGE:
        headers["connection"] = "close"  # the rest of the body is not read
    described: dict[str, Any] = {"code": error.spec.code, "message": error.message}
    if error.details is not None:
        described["details"] = error.details
    return error.spec.status, {"error": described}, headers


def standing_headers(standing: Standing) -> dict[str, str]:
    """Return the four `X-RateLimit-*` headers of a layer."""
    return {
        "x-ratelimit-limit": str(standing.limit),
        "x-ratelimit-remaining": str(standing.remaining),
        "x-ratelimit-reset": str(standing.reset_at),
        "x-ratelimit-resource": standing.resource,
    }
