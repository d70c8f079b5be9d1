"""A refusal as the API raises it, and the form of a row of the catalogue (`contract.errors`)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class ErrorSpec(msgspec.Struct, frozen=True):
    """One row: `code` (stable), HTTP `status`, default `message`, what a caller does about it, and `details` keys."""

    code: str
    status: int
    message: str
    remedy: str
    detail_keys: tuple[str, ...] = ()


class ApiError(Exception):
    """A refusal with a stable code; the API's edge turns it into a reply.

    `retry_after_seconds`, where given, becomes the `Retry-After` header.
    """

    def __init__(
        self,
        spec: ErrorSpec,
        message: str | None = None,
        *,
        details: Mapping[str, object] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(f"{spec.code}: {message or spec.message}")
        self.spec = spec
        self.message = message or spec.message
        self.details = dict(details) if details else None
        self.retry_after_seconds = retry_after_seconds
