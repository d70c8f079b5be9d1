"""THE error catalogue: one row per code, with its status, message and the keys of its details.

Source: api.md "Errors". Codes are stable; messages may be reworded. The rows under
"Devices" are this project's own additions for the device side, which the public contract leaves open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """One row: `code` (stable), HTTP `status`, default `message`, and which `details` keys it may carry."""

    code: str
    status: int
    message: str
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


CATALOGUE: Final[dict[str, ErrorSpec]] = {}


def _row(code: str, status: int, message: str, *detail_keys: str) -> ErrorSpec:
    spec = ErrorSpec(code, status, message, detail_keys)
    CATALOGUE[code] = spec
    return spec


# Bad input
INVALID_JSON: Final = _row("invalid_json", 400, "The body must be one JSON object in UTF-8")
INVALID_BODY: Final = _row("invalid_body", 400, "The form or text is malformed or not UTF-8")
INVALID_QUESTION: Final = _row("invalid_question", 400, "question must be 1 to 1000 characters and not blank")
INVALID_CHOICES: Final = _row(
    "invalid_choices", 400, "choices must be 2 to 4 different labels of 1 to 100 characters, none of them blank"
)
INVALID_EXPIRES_IN: Final = _row("invalid_expires_in", 400, "expires_in must be a whole number from 60 to 86400")
INVALID_IDEMPOTENCY_KEY: Final = _row("invalid_idempotency_key", 400, "idempotency_key must be 1 to 128 characters")
INVALID_TETHER: Final = _row("invalid_tether", 400, "tether must be a whole number from 5 to 300")
INVALID_CHOICE: Final = _row("invalid_choice", 400, "The choice must be one of the question's choices")
INVALID_MESSAGE: Final = _row("invalid_message", 400, "message must be text of at least 1 byte")
MESSAGE_TOO_LONG: Final = _row("message_too_long", 400, "message must be ≤ 1500 bytes", "bytes", "max")
INVALID_TITLE: Final = _row("invalid_title", 400, "title must be 1 to 100 bytes", "bytes", "max")
INVALID_PRIORITY: Final = _row("invalid_priority", 400, "priority must be one of min, low, default, high, urgent")
INVALID_TAGS: Final = _row("invalid_tags", 400, "tags must be a list of short labels")
INVALID_URL: Final = _row("invalid_url", 400, "url must be an http or https URL of at most 512 bytes", "bytes", "max")
INVALID_URL_TITLE: Final = _row(
    "invalid_url_title", 400, "url_title must be 1 to 100 bytes and needs a url", "bytes", "max"
)
INVALID_ACTION: Final = _row(
    "invalid_action",
    400,
    "actions must be up to 3 of {label: 1 to 40 bytes, url: http or https, at most 512 bytes}",
    "bytes",
    "max",
)
INVALID_DEVICE: Final = _row("invalid_device", 400, "device must be all, phone, desktop, or labels or ids of devices")
INVALID_MARKDOWN: Final = _row("invalid_markdown", 400, "markdown must be true or false")
INVALID_TTL: Final = _row("invalid_ttl", 400, "ttl must be a number of seconds")
INVALID_FILENAME: Final = _row(
    "invalid_filename", 400, "filename must end in an allowed extension and be a safe name (max 120 characters)"
)
INVALID_CONTENT: Final = _row("invalid_content", 400, "content must be text and not empty")
INVALID_AT: Final = _row(
    "invalid_at", 400, "at must be Unix seconds or RFC 3339 with an offset, 60 seconds to 365 days ahead"
)
INVALID_DURATION: Final = _row("invalid_duration", 400, "duration must be a whole number of seconds from 5 to 120")
INVALID_WAIT: Final = _row("invalid_wait", 400, "wait must be a whole number of seconds from 0 to 60")

# Identity (flat replies)
MISSING_TOKEN: Final = _row("missing_token", 401, "Authorization: Bearer rfk_live_… required")
INVALID_TOKEN: Final = _row("invalid_token", 401, "The token is malformed, unknown or revoked")

# Permission
PRIORITY_CAPPED: Final = _row("priority_capped", 403, "The token's priority_cap is below the requested priority")
SCOPE_DENIED: Final = _row("scope_denied", 403, "This token may not do that")

# Routing
NOT_FOUND: Final = _row("not_found", 404, "Not found")
METHOD_NOT_ALLOWED: Final = _row("method_not_allowed", 405, "This method is not allowed here")
UNSUPPORTED_MEDIA_TYPE: Final = _row("unsupported_media_type", 415, "Content-Type must be application/json")

# State
NO_PHONE_DEVICE: Final = _row("no_phone_device", 409, "No phone is paired with this token's owner")
ALREADY_ANSWERED: Final = _row(
    "already_answered", 409, "The question was already answered", "choice", "choice_index", "answered_at", "answered_by"
)
INTERACTION_CLOSED: Final = _row("interaction_closed", 409, "The question is no longer open", "status")
PAYLOAD_TOO_LARGE: Final = _row("payload_too_large", 413, "The body is too large", "size", "max")
PHONE_APP_OUTDATED: Final = _row(
    "phone_app_outdated", 426, "Every paired phone's app is too old to show a question; update it. Nothing was sent"
)

# Limits
RATE_LIMIT_EXCEEDED: Final = _row("rate_limit_exceeded", 429, "Rate limit hit")
TOO_MANY_PENDING: Final = _row("too_many_pending", 429, "10 questions are already waiting for an answer")
QUEUE_FULL: Final = _row("queue_full", 429, "The queue of every device meant is full; nothing was delivered", "devices")

# The server itself
INTERNAL_ERROR: Final = _row("internal_error", 500, "The server failed; its log says why")
UNAVAILABLE: Final = _row("unavailable", 503, "The server cannot store anything right now; nothing was accepted")

# Devices
INVALID_CODE: Final = _row(
    "invalid_code", 403, "The setup code is wrong, used or older than 10 minutes; `reflecto invite` makes a new one"
)
INVALID_PUBLIC_KEY: Final = _row("invalid_public_key", 400, "public_key must be an X25519 public key in base64")
INVALID_SIGNING_KEY: Final = _row("invalid_signing_key", 400, "signing_key must be an Ed25519 public key in base64")
INVALID_LABEL: Final = _row("invalid_label", 400, "label must be 1 to 60 characters and not blank")
INVALID_TYPE: Final = _row("invalid_type", 400, "type must be one of android, extension, web, cli")
INVALID_CLASS: Final = _row("invalid_class", 400, "class must be phone or desktop; the first device must be a phone")
INVALID_APP_BUILD: Final = _row("invalid_app_build", 400, "app_build must be a whole number from 0 to 2147483647")
INVALID_FEATURES: Final = _row(
    "invalid_features", 400, "features must be up to 32 names of 1 to 40 of a-z, 0-9, _, . and -"
)
INVALID_PUSH: Final = _row(
    "invalid_push", 400, "push must be null or {endpoint: https URL, keys: {p256dh, auth}} as a browser makes it"
)
INVALID_SEQ: Final = _row("invalid_seq", 400, "The sequence number is not one this device was sent")
INVALID_ANSWERED_AT: Final = _row("invalid_answered_at", 400, "answered_at must be Unix seconds")
INVALID_SIGNATURE: Final = _row("invalid_signature", 400, "signature must be an Ed25519 signature in base64")
INVALID_PRIORITY_CAP: Final = _row(
    "invalid_priority_cap", 400, "priority_cap must be one of min, low, default, high, urgent"
)
INVALID_SCOPES: Final = _row("invalid_scopes", 400, "scopes must name send, ask, ring, remind or files, each once")
INVALID_TEST: Final = _row("invalid_test", 400, "test must be true or false")
INVALID_PAIRING_ID: Final = _row("invalid_pairing_id", 400, "pairing_id must be par_ and 32 lower-case hex digits")
INVALID_PROOF: Final = _row("invalid_proof", 400, "Proofs, commitments and nonces must be 32 bytes in base64")
INVALID_APPROVAL: Final = _row("invalid_approval", 400, "approval must be the text of a device list")
INVALID_RELAY: Final = _row(
    "invalid_relay", 400, "to must be 1 to 32 device ids, and blobs as many wire blobs in base64 of at most 64 KiB each"
)
PAIRING_CLOSED: Final = _row("pairing_closed", 409, "The invitation is used, or not at the step for that", "status")
TOO_MANY_PAIRINGS: Final = _row("too_many_pairings", 409, "8 invitations are already open")
TOO_MANY_DEVICES: Final = _row("too_many_devices", 409, "The owner already has 32 devices")
TOO_MANY_REMINDERS: Final = _row("too_many_reminders", 409, "The owner already has 1000 reminders waiting")
TOO_MANY_EMERGENCIES: Final = _row("too_many_emergencies", 429, "The owner already has 50 emergencies under way")
EMERGENCY_CLOSED: Final = _row("emergency_closed", 409, "The emergency was cancelled or has expired", "status")
TOO_MANY_TOKENS: Final = _row("too_many_tokens", 409, "The owner already has 200 tokens")
