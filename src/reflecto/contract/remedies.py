"""What a caller does about each error: the last column of the table of errors. Source: api.md "Errors"."""

from collections.abc import Mapping
from typing import Final

_FIX_FIELD: Final = "Fix the field."
_FIX_LENGTH: Final = "With details: shorten it to `max` bytes of UTF-8. Without: fix the field."
_FREE_ONE: Final = "Remove one that is no longer needed, then try again."

REMEDIES: Final[Mapping[str, str]] = {
    # Bad input
    "invalid_json": "Send one JSON object in UTF-8, without duplicate keys, NaN, lone surrogates or huge numbers.",
    "invalid_body": "Send the form or text in UTF-8, each field once.",
    "invalid_question": _FIX_FIELD,
    "invalid_choices": _FIX_FIELD,
    "invalid_expires_in": _FIX_FIELD,
    "invalid_idempotency_key": _FIX_FIELD,
    "invalid_tether": _FIX_FIELD,
    "invalid_choice": "Send one of the question's choices: the label to the letter, or its index.",
    "invalid_message": _FIX_FIELD,
    "message_too_long": "Shorten it to `max` bytes of UTF-8; `bytes` says how long it is.",
    "invalid_title": _FIX_LENGTH,
    "invalid_priority": _FIX_FIELD,
    "invalid_tags": _FIX_FIELD,
    "invalid_url": _FIX_LENGTH,
    "invalid_url_title": "With details: shorten it to `max` bytes of UTF-8. Without: it needs a `url`.",
    "invalid_action": _FIX_LENGTH,
    "invalid_device": "Leave it out for all devices; `GET /v1/devices` lists labels and ids.",
    "invalid_markdown": _FIX_FIELD,
    "invalid_ttl": _FIX_FIELD,
    "invalid_filename": "Use a plain name with a plain-text extension, for example `report.txt`.",
    "invalid_content": _FIX_FIELD,
    "invalid_at": "Name an instant within bounds; RFC 3339 needs its offset, for example `2026-01-31T09:00:00+01:00`.",
    "invalid_duration": _FIX_FIELD,
    "invalid_wait": "Wait at most 60 seconds a call and call again while the question is pending.",
    # Identity
    "missing_token": "Send `Authorization: Bearer rfk_live_…`.",
    "invalid_token": "Use one that is not revoked, of the kind the call needs: `rfk_…` to send, `rfd_…` as a device.",
    # Permission
    "priority_capped": "Lower the priority, or make a token without that cap.",
    "scope_denied": "Use a token with the scope, or for a device's call a phone.",
    # Routing
    "not_found": "Check path and id. Only the token that asked reads a question, and 24 hours after its end nobody.",
    "method_not_allowed": "Use a method that the `Allow` header names.",
    "unsupported_media_type": "Set Content-Type to one that the call takes.",
    # State
    "no_phone_device": "Pair a phone: `reflecto invite`.",
    "already_answered": "Take the answer in the details; it is final.",
    "interaction_closed": "Ask again if it still matters. An expired question was not consented to.",
    "payload_too_large": "Send at most `max` bytes; `size` says how many it was.",
    "phone_app_outdated": "Update the app on the phone.",
    # Limits
    "rate_limit_exceeded": "Wait as long as `Retry-After` says; `X-RateLimit-Resource` names the limit.",
    "too_many_pending": "Wait for answers, or withdraw questions with `DELETE /v1/interactions/{id}`.",
    "queue_full": "Open the app on the devices named, or unpair those that nobody uses. All of it ends after 72 hours.",
    # The server itself
    "internal_error": "Read the server's log. A request with an `idempotency_key` may be sent again.",
    "unavailable": "Try again after `Retry-After` seconds; the server's log says why it cannot store.",
    # Devices
    "invalid_code": "Make a new code with `reflecto invite`.",
    "invalid_public_key": _FIX_FIELD,
    "invalid_signing_key": _FIX_FIELD,
    "invalid_label": _FIX_FIELD,
    "invalid_type": _FIX_FIELD,
    "invalid_class": "Enrol a phone first; then other devices.",
    "invalid_app_build": _FIX_FIELD,
    "invalid_features": _FIX_FIELD,
    "invalid_push": "Send what the browser's `toJSON()` of the subscription gives, or null.",
    "invalid_seq": "Acknowledge only numbers that came.",
    "invalid_answered_at": _FIX_FIELD,
    "invalid_signature": "Send 64 bytes in base64, or leave it out.",
    "invalid_priority_cap": _FIX_FIELD,
    "invalid_scopes": _FIX_FIELD,
    "invalid_test": _FIX_FIELD,
    "invalid_pairing_id": _FIX_FIELD,
    "invalid_proof": _FIX_FIELD,
    "invalid_approval": _FIX_FIELD,
    "invalid_relay": _FIX_FIELD,
    "pairing_closed": "Make a new invitation on the phone.",
    "too_many_pairings": "Wait until one is used or has expired, 10 minutes at most.",
    "too_many_devices": _FREE_ONE,
    "too_many_reminders": _FREE_ONE,
    "too_many_emergencies": "Acknowledge or cancel some; they expire by themselves.",
    "emergency_closed": "Nothing is left to do: it rings no more. Its sender was not told that somebody has seen it.",
    "too_many_tokens": _FREE_ONE,
}
