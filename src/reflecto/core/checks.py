"""Bounds in bytes of UTF-8, and web addresses. Source: api.md "Errors" on byte-length errors."""

from reflecto.contract.api_error import ApiError, ErrorSpec
from reflecto.contract.links import read_web_link


def check_bytes(text: str, max_bytes: int, too_long: ErrorSpec, empty: ErrorSpec | None = None) -> None:
    """Refuse an empty text (with `empty`, else as too long) and one of over `max_bytes`.

    Raises: ApiError; when too long its details are the byte count and the bound.
    """
    size = len(text.encode())
    if size == 0:
        raise ApiError(empty or too_long)
    if size > max_bytes:
        raise ApiError(too_long, details={"bytes": size, "max": max_bytes})


def check_web_url(url: str, max_bytes: int, error: ErrorSpec) -> None:
    """Refuse anything but an http or https URL that every reader reads alike.

    Raises: ApiError, with details only when too long.
    """
    check_bytes(url, max_bytes, error)
    if read_web_link(url) is None:
        raise ApiError(error)
