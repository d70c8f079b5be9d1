"""Bounds in bytes of UTF-8, and web addresses. Source: api.md "Errors" on byte-length errors."""

from urllib.parse import urlsplit

from reflecto.contract.errors import ApiError, ErrorSpec


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
    """Refuse anything but an http or https URL with a host. Raises: ApiError, with details only when too long."""
    check_bytes(url, max_bytes, error)
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a broken port or IPv6 address
        valid = False
    if not valid or any(char.isspace() or ord(char) < 0x20 or ord(char) == 0x7F for char in url):
        raise ApiError(error)
