"""THE error catalogue: one row per code, with its status, message, remedy and the keys of its details.

Source: api.md "Errors". Codes are stable; messages may be reworded. The rows under
"Devices" are this project's own additions for the device side, which the public contract leaves open.
"""

from typing import Final

from reflecto.contract import limits
from reflecto.contract.api_error import ErrorSpec

CATALOGUE: Final[dict[str, ErrorSpec]] = {}


def _row(code: str, status: int, message: str, remedy: str, *detail_keys: str) -> ErrorSpec:
    spec = ErrorSpec(code, status, message, remedy, detail_keys)
    CATALOGUE[code] = spec
    return spec


_FIX_FIELD: Final = "Fix the field."
_FIX_LENGTH: Final = "With details: shorten it to `max` bytes of UTF-8. Without: fix the field."
_FREE_ONE: Final = "Remove one that is no longer needed, then try again."

# Bad input
INVALID_JSON: Final = _row(
    "invalid_json",
    400,
    "The body must be one JSON object in UTF-8",
    "Send one JSON object in UTF-8, without duplicate keys, NaN, lone surrogates or huge numbers.",
)
INVALID_BODY: Final = _row(
    "invalid_body",
    400,
    "The form or text is malformed or not UTF-8",
    "Send the form or text in UTF-8, each field once.",
)
INVALID_QUESTION: Final = _row(
    "invalid_question", 400, f"question must be 1 to {limits.QUESTION_MAX_CHARS} characters and not blank", _FIX_FIELD
)
INVALID_CHOICES: Final = _row(
    "invalid_choices",
    400,
    f"choices must be {limits.CHOICES_MIN} to {limits.CHOICES_MAX} different labels of 1 to "
    f"{limits.CHOICE_MAX_CHARS} characters, none of them blank",
    "Fix the field. Labels count as equal where a person cannot tell them apart (a Cyrillic letter in one of them).",
)
INVALID_EXPIRES_IN: Final = _row(
    "invalid_expires_in",
    400,
    f"expires_in must be a whole number from {limits.EXPIRES_IN_MIN_SECONDS} to {limits.EXPIRES_IN_MAX_SECONDS}",
    _FIX_FIELD,
)
INVALID_IDEMPOTENCY_KEY: Final = _row(
    "invalid_idempotency_key",
    400,
    f"idempotency_key must be 1 to {limits.IDEMPOTENCY_KEY_MAX_CHARS} characters",
    _FIX_FIELD,
)
IDEMPOTENCY_KEY_REUSED: Final = _row(
    "idempotency_key_reused",
    422,
    "This Idempotency-Key was used for another request in the last 24 hours",
    "Use a new key for each request, and the same only to send that request again.",
)
INVALID_TETHER: Final = _row(
    "invalid_tether",
    400,
    f"tether must be a whole number from {limits.TETHER_MIN_SECONDS} to {limits.TETHER_MAX_SECONDS}",
    _FIX_FIELD,
)
INVALID_DETAILS: Final = _row(
    "invalid_details",
    400,
    f"details must be up to {limits.DETAILS_MAX_BLOCKS} blocks of kind text, code, diff or fields, with no member "
    f"but theirs, together at most {limits.DETAILS_MAX_BYTES} bytes as canonical JSON",
    "With details: shorten them to `max` bytes. Without: fix the block; `docs/ask.md` lists the kinds and bounds.",
    "bytes",
    "max",
)
INVALID_SOURCE: Final = _row(
    "invalid_source",
    400,
    f"source must be an object of app, host, where and session, each text of at most {limits.SOURCE_MAX_BYTES} bytes",
    _FIX_FIELD,
)
INVALID_DANGER: Final = _row("invalid_danger", 400, "danger must be normal or high", _FIX_FIELD)
INVALID_CONFIRM: Final = _row("invalid_confirm", 400, "confirm must be tap, hold or number", _FIX_FIELD)
INVALID_NUMBER: Final = _row(
    "invalid_number",
    400,
    "number must be two digits, for the first choice of a question with confirm number, and for no other question",
    "Have the person type the two digits that stand where the program asks.",
)
INVALID_COMMENT: Final = _row(
    "invalid_comment",
    400,
    "comment of a question must be none or optional; of an answer "
    f"{{text: 1 to {limits.COMMENT_MAX_CHARS} characters, salt: {limits.COMMENT_SALT_BYTES} bytes in base64url}}, "
    "where the question takes one",
    _FIX_FIELD,
)
INVALID_CHOICE: Final = _row(
    "invalid_choice",
    400,
    "The choice must be one of the question's choices",
    "Send one of the question's choices: the label to the letter, or its index.",
)
INVALID_MESSAGE: Final = _row("invalid_message", 400, "message must be text of at least 1 byte", _FIX_FIELD)
MESSAGE_TOO_LONG: Final = _row(
    "message_too_long",
    400,
    f"message must be ≤ {limits.MESSAGE_MAX_BYTES} bytes",
    "Shorten it to `max` bytes of UTF-8; `bytes` says how long it is.",
    "bytes",
    "max",
)
INVALID_TITLE: Final = _row(
    "invalid_title", 400, f"title must be 1 to {limits.TITLE_MAX_BYTES} bytes", _FIX_LENGTH, "bytes", "max"
)
INVALID_PRIORITY: Final = _row(
    "invalid_priority", 400, "priority must be one of min, low, default, high, urgent", _FIX_FIELD
)
INVALID_TAGS: Final = _row("invalid_tags", 400, "tags must be a list of short labels", _FIX_FIELD)
INVALID_URL: Final = _row(
    "invalid_url",
    400,
    f"url must be an http or https URL of at most {limits.URL_MAX_BYTES} bytes",
    _FIX_LENGTH,
    "bytes",
    "max",
)
INVALID_URL_TITLE: Final = _row(
    "invalid_url_title",
    400,
    f"url_title must be 1 to {limits.URL_TITLE_MAX_BYTES} bytes and needs a url",
    "With details: shorten it to `max` bytes of UTF-8. Without: it needs a `url`.",
    "bytes",
    "max",
)
INVALID_ACTION: Final = _row(
    "invalid_action",
    400,
    f"actions must be up to {limits.ACTIONS_MAX} of "
    f"{{label: 1 to {limits.ACTION_LABEL_MAX_BYTES} bytes, url: http or https, at most {limits.URL_MAX_BYTES} bytes}}",
    _FIX_LENGTH,
    "bytes",
    "max",
)
INVALID_DEVICE: Final = _row(
    "invalid_device",
    400,
    "device must be all, phone, desktop, or labels or ids of devices",
    "Leave it out for all devices; `GET /v1/devices` lists labels and ids.",
)
INVALID_MARKDOWN: Final = _row("invalid_markdown", 400, "markdown must be true or false", _FIX_FIELD)
INVALID_TTL: Final = _row("invalid_ttl", 400, "ttl must be a number of seconds", _FIX_FIELD)
INVALID_FILENAME: Final = _row(
    "invalid_filename",
    400,
    f"filename must end in an allowed extension and be a safe name (max {limits.FILENAME_MAX_CHARS} characters)",
    "Use a plain name with a plain-text extension, for example `report.txt`.",
)
INVALID_CONTENT: Final = _row("invalid_content", 400, "content must be text and not empty", _FIX_FIELD)
INVALID_AT: Final = _row(
    "invalid_at",
    400,
    f"at must be Unix seconds or RFC 3339 with an offset, {limits.REMINDER_MIN_AHEAD_SECONDS} "
    f"seconds to {limits.REMINDER_MAX_AHEAD_SECONDS // 86_400} days ahead",
    "Name an instant within bounds; RFC 3339 needs its offset, for example `2026-01-31T09:00:00+01:00`.",
)
INVALID_DURATION: Final = _row(
    "invalid_duration",
    400,
    f"duration must be a whole number of seconds from {limits.RING_MIN_SECONDS} to {limits.RING_MAX_SECONDS}",
    _FIX_FIELD,
)
INVALID_WAIT: Final = _row(
    "invalid_wait",
    400,
    f"wait must be a whole number of seconds from 0 to {limits.WAIT_MAX_SECONDS}",
    f"Wait at most {limits.WAIT_MAX_SECONDS} seconds a call and call again while the question is pending.",
)

# Identity (flat replies)
MISSING_TOKEN: Final = _row(
    "missing_token", 401, "Authorization: Bearer rfk_live_… required", "Send `Authorization: Bearer rfk_live_…`."
)
INVALID_TOKEN: Final = _row(
    "invalid_token",
    401,
    "The token is malformed, unknown or revoked",
    "Use one that is not revoked, of the kind the call needs: `rfk_…` to send, `rfd_…` as a device.",
)

# Permission
PRIORITY_CAPPED: Final = _row(
    "priority_capped",
    403,
    "The token's priority_cap is below the requested priority",
    "Lower the priority, or make a token without that cap.",
)
SCOPE_DENIED: Final = _row(
    "scope_denied", 403, "This token may not do that", "Use a token with the scope, or for a device's call a phone."
)
SENDER_MUTED: Final = _row(
    "sender_muted",
    403,
    "The owner has muted this sender",
    "Do not ask again before `Retry-After`; without that header only the owner can unmute it. Nothing was sent.",
)

WRONG_NUMBER: Final = _row(
    "wrong_number",
    403,
    f"That is not the number; the question ends with the wrong number {limits.WRONG_NUMBERS_MAX}",
    "Look at the place that asks, and type the number it shows. With `tries_left` 0 the question is cancelled.",
    "tries_left",
)

# Routing
NOT_FOUND: Final = _row(
    "not_found",
    404,
    "Not found",
    "Check path and id. Only the token that asked reads a question, and "
    f"{limits.RETENTION_SECONDS // 3_600} hours after its end nobody.",
)
METHOD_NOT_ALLOWED: Final = _row(
    "method_not_allowed", 405, "This method is not allowed here", "Use a method that the `Allow` header names."
)
UNSUPPORTED_MEDIA_TYPE: Final = _row(
    "unsupported_media_type",
    415,
    "Content-Type must be application/json",
    "Set Content-Type to one that the call takes.",
)

# State
NO_PHONE_DEVICE: Final = _row(
    "no_phone_device", 409, "No phone is paired with this token's owner", "Pair a phone: `reflecto invite`."
)
ALREADY_ANSWERED: Final = _row(
    "already_answered",
    409,
    "The question was already answered",
    "Take the answer in the details; it is final.",
    "choice",
    "choice_index",
    "answered_at",
    "answered_by",
)
INTERACTION_CLOSED: Final = _row(
    "interaction_closed",
    409,
    "The question is no longer open",
    "Ask again if it still matters. An expired question was not consented to.",
    "status",
)
PAYLOAD_TOO_LARGE: Final = _row(
    "payload_too_large",
    413,
    "The body is too large",
    "Send at most `max` bytes; `size` says how many it was.",
    "size",
    "max",
)
PHONE_APP_OUTDATED: Final = _row(
    "phone_app_outdated",
    426,
    "Every paired phone's app is too old to show a question; update it. Nothing was sent",
    "Update the app on the phone.",
)

# Limits
RATE_LIMIT_EXCEEDED: Final = _row(
    "rate_limit_exceeded",
    429,
    "Rate limit hit",
    "Wait as long as `Retry-After` says; `X-RateLimit-Resource` names the limit.",
)
TOO_MANY_PENDING: Final = _row(
    "too_many_pending",
    429,
    f"{limits.PENDING_MAX_PER_OWNER} questions are already waiting for an answer",
    "Wait for answers, or withdraw questions with `DELETE /v1/interactions/{id}`.",
)
QUEUE_FULL: Final = _row(
    "queue_full",
    429,
    "The queue of every device meant is full; nothing was delivered",
    "Open the app on the devices named, or unpair those that nobody uses. All of it ends after "
    f"{limits.QUEUE_TTL_MAX_SECONDS // 3_600} hours.",
    "devices",
)

# The server itself
INTERNAL_ERROR: Final = _row(
    "internal_error",
    500,
    "The server failed; its log says why",
    "Read the server's log. A request with an `idempotency_key` may be sent again.",
)
UNAVAILABLE: Final = _row(
    "unavailable",
    503,
    "The server cannot store anything right now; nothing was accepted",
    "Try again after `Retry-After` seconds; the server's log says why it cannot store.",
)
OUTCOME_UNKNOWN: Final = _row(
    "outcome_unknown",
    503,
    "The database did not answer in time: the request may have been accepted, or may still be",
    "Send exactly the same again after `Retry-After` seconds, with the same key where it has one: then it happens "
    "once. Only a server on PostgreSQL says this.",
)

# Devices
INVALID_CODE: Final = _row(
    "invalid_code",
    403,
    f"The setup code is wrong, used or older than {limits.SETUP_CODE_SECONDS // 60} minutes; "
    "`reflecto invite` makes a new one",
    "Make a new code with `reflecto invite`.",
)
INVALID_PUBLIC_KEY: Final = _row(
    "invalid_public_key", 400, "public_key must be an X25519 public key in base64", _FIX_FIELD
)
INVALID_SIGNING_KEY: Final = _row(
    "invalid_signing_key", 400, "signing_key must be an Ed25519 public key in base64", _FIX_FIELD
)
INVALID_LABEL: Final = _row(
    "invalid_label",
    400,
    f"label must be 1 to {limits.LABEL_MAX_CHARS} characters, not blank and without NUL",
    _FIX_FIELD,
)
INVALID_TYPE: Final = _row("invalid_type", 400, "type must be one of android, extension, web, cli", _FIX_FIELD)
INVALID_CLASS: Final = _row(
    "invalid_class",
    400,
    "class must be phone or desktop; the first device must be a phone",
    "Enrol a phone first; then other devices.",
)
INVALID_APP_BUILD: Final = _row(
    "invalid_app_build", 400, f"app_build must be a whole number from 0 to {limits.APP_BUILD_MAX}", _FIX_FIELD
)
INVALID_FEATURES: Final = _row(
    "invalid_features",
    400,
    f"features must be up to {limits.FEATURES_MAX} names of 1 to {limits.FEATURE_MAX_CHARS} of a-z, 0-9, _, . and -",
    _FIX_FIELD,
)
INVALID_PUSH: Final = _row(
    "invalid_push",
    400,
    "push must be null or {endpoint: https URL, keys: {p256dh, auth}} as a browser makes it",
    "Send what the browser's `toJSON()` of the subscription gives, or null.",
)
INVALID_SEQ: Final = _row(
    "invalid_seq", 400, "The sequence number is not one this device was sent", "Acknowledge only numbers that came."
)
INVALID_ANSWERED_AT: Final = _row("invalid_answered_at", 400, "answered_at must be Unix seconds", _FIX_FIELD)
INVALID_SIGNATURE: Final = _row(
    "invalid_signature",
    400,
    "signature must be an Ed25519 signature in base64, over the version of the message that the question takes",
    "Send 64 bytes in base64. A question that brought details, source, danger, confirm or comment takes only a signed "
    'answer with `"v": 2`, and any other question takes none with it.',
)
INVALID_PRIORITY_CAP: Final = _row(
    "invalid_priority_cap", 400, "priority_cap must be one of min, low, default, high, urgent", _FIX_FIELD
)
INVALID_SCOPES: Final = _row(
    "invalid_scopes",
    400,
    "scopes must name send, ask, ring, remind or files, each once; ask needs a priority_cap of high or above",
    "Fix the field, or leave it out for all that the cap leaves possible.",
)
INVALID_COLOUR: Final = _row(
    "invalid_colour", 400, "colour must be one of teal, violet, amber, blue, rose, olive, slate, brick", _FIX_FIELD
)
INVALID_MUTED_UNTIL: Final = _row(
    "invalid_muted_until", 400, "muted_until must be Unix seconds, forever or null", _FIX_FIELD
)
INVALID_REASON: Final = _row("invalid_reason", 400, "reason must be dismissed or wrong_number", _FIX_FIELD)
INVALID_TEST: Final = _row("invalid_test", 400, "test must be true or false", _FIX_FIELD)
INVALID_PAIRING_ID: Final = _row(
    "invalid_pairing_id", 400, "pairing_id must be par_ and 32 lower-case hex digits", _FIX_FIELD
)
INVALID_PROOF: Final = _row(
    "invalid_proof", 400, "Proofs, commitments and nonces must be 32 bytes in base64", _FIX_FIELD
)
INVALID_APPROVAL: Final = _row("invalid_approval", 400, "approval must be the text of a device list", _FIX_FIELD)
INVALID_RELAY: Final = _row(
    "invalid_relay",
    400,
    f"to must be 1 to {limits.RELAY_TARGETS_MAX} device ids, and blobs as many wire blobs in base64 "
    f"of at most {limits.RELAY_BLOB_MAX_BYTES // 1_024} KiB each",
    _FIX_FIELD,
)
PAIRING_CLOSED: Final = _row(
    "pairing_closed",
    409,
    "The invitation is used, or not at the step for that",
    "Make a new invitation on the phone.",
    "status",
)
TOO_MANY_PAIRINGS: Final = _row(
    "too_many_pairings",
    409,
    f"{limits.PAIRINGS_MAX_PER_OWNER} invitations are already open",
    f"Wait until one is used or has expired, {limits.PAIRING_SECONDS // 60} minutes at most.",
)
TOO_MANY_DEVICES: Final = _row(
    "too_many_devices", 409, f"The owner already has {limits.DEVICES_MAX_PER_OWNER} devices", _FREE_ONE
)
TOO_MANY_REMINDERS: Final = _row(
    "too_many_reminders", 409, f"The owner already has {limits.REMINDERS_MAX_PER_OWNER} reminders waiting", _FREE_ONE
)
TOO_MANY_EMERGENCIES: Final = _row(
    "too_many_emergencies",
    429,
    f"The owner already has {limits.EMERGENCIES_MAX_PER_OWNER} emergencies under way",
    "Acknowledge or cancel some; they expire by themselves.",
)
EMERGENCY_CLOSED: Final = _row(
    "emergency_closed",
    409,
    "The emergency was cancelled or has expired",
    "Nothing is left to do: it rings no more. Its sender was not told that somebody has seen it.",
    "status",
)
LABEL_TAKEN: Final = _row(
    "label_taken", 409, "Another token of the owner has this name, or one that looks the same", "Choose another name."
)
TOO_MANY_TOKENS: Final = _row(
    "too_many_tokens", 409, f"The owner already has {limits.TOKENS_MAX_PER_OWNER} tokens", _FREE_ONE
)
