"""Writes docs/limits.md from the code's limits: `.venv/bin/python scripts/write_limits_page.py`. A test compares."""
# ruff: noqa: INP001  a script, no package

from pathlib import Path
from typing import Final

from reflecto.contract import limits as at
from reflecto.core.quotas import PROFILES

PAGE: Final = Path(__file__).parents[1] / "docs" / "limits.md"

Row = tuple[str, str, str]  # what is limited, how much, what happens beyond it

INTRODUCTION: Final = """\
# All limits

<!-- Made by scripts/write_limits_page.py from src/reflecto/contract/limits.py. -->

Bytes are bytes of UTF-8: `ü` has two, most emoji have four. Characters are code points. Where
a row names an error, nothing was stored or sent; [errors.md](errors.md) says what to do about each.
"""


def amount(count: int, unit: str) -> str:
    """Return a count with its unit, for people: 1500 becomes 1,500."""
    return f"{count:,} {unit}"


def size(count: int) -> str:
    """Return bytes in the largest unit that says them whole."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return amount(count, "bytes")


def span(seconds: float) -> str:
    """Return seconds in the largest unit that says them whole; days from three on."""
    for unit, factor, least in (("days", 86_400, 3), ("h", 3_600, 1), ("min", 60, 2)):
        if seconds >= factor * least and seconds % factor == 0:
            return f"{int(seconds) // factor} {unit}"
    return f"{seconds:g} s"


def up_to(count: int, unit: str) -> str:
    """Return the bounds of a text that may not be empty."""
    return f"1 to {amount(count, unit)}"


def between(least: float, most: float, default: float | None = None) -> str:
    """Return bounds in seconds, and what counts where the caller does not say."""
    otherwise = "" if default is None else f"; {span(default)} where you do not say"
    return f"{span(least)} to {span(most)}{otherwise}"


NOTIFICATION: Final[tuple[Row, ...]] = (
    ("message", up_to(at.MESSAGE_MAX_BYTES, "bytes"), "`message_too_long`"),
    ("title", up_to(at.TITLE_MAX_BYTES, "bytes"), "`invalid_title`"),
    ("link", up_to(at.URL_MAX_BYTES, "bytes"), "`invalid_url`"),
    ("title of the link", up_to(at.URL_TITLE_MAX_BYTES, "bytes"), "`invalid_url_title`"),
    ("buttons", f"{at.ACTIONS_MAX}, each label {up_to(at.ACTION_LABEL_MAX_BYTES, 'bytes')}", "`invalid_action`"),
    ("tags", f"{at.TAGS_MAX}, each up to {amount(at.TAG_MAX_BYTES, 'bytes')}", "cut, with a warning"),
    ("all of it together", size(at.ENVELOPE_MAX_BYTES), "`payload_too_large`"),
    ("the request's body", size(at.SEND_BODY_MAX_BYTES), "`payload_too_large`"),
    ("how long it waits for a phone that is offline", span(at.TTL_MAX_SECONDS), "it is dropped"),
    ("the same with `ttl` 0, for devices connected now", span(at.CONNECTED_ONLY_SECONDS), "it is dropped"),
)
QUESTION: Final[tuple[Row, ...]] = (
    ("question", up_to(at.QUESTION_MAX_CHARS, "characters"), "`invalid_question`"),
    ("choices", f"{at.CHOICES_MIN} to {at.CHOICES_MAX}", "`invalid_choices`"),
    ("each choice", up_to(at.CHOICE_MAX_CHARS, "characters"), "`invalid_choices`"),
    (
        "how long it waits for a tap",
        between(at.EXPIRES_IN_MIN_SECONDS, at.EXPIRES_IN_MAX_SECONDS, at.EXPIRES_IN_DEFAULT_SECONDS),
        "`invalid_expires_in`",
    ),
    ("idempotency key", up_to(at.IDEMPOTENCY_KEY_MAX_CHARS, "characters"), "`invalid_idempotency_key`"),
    ("tether", between(at.TETHER_MIN_SECONDS, at.TETHER_MAX_SECONDS), "`invalid_tether`"),
    ("details", f"{at.DETAILS_MAX_BLOCKS} blocks, {size(at.DETAILS_MAX_BYTES)} as canonical JSON", "`invalid_details`"),
    (
        "label and language of a block",
        f"{amount(at.BLOCK_LABEL_MAX_BYTES, 'bytes')} and {amount(at.BLOCK_LANGUAGE_MAX_BYTES, 'bytes')}",
        "`invalid_details`",
    ),
    (
        "fields of a block",
        f"{at.FIELDS_MAX}, each name {at.FIELD_NAME_MAX_BYTES} and value {at.FIELD_VALUE_MAX_BYTES} bytes",
        "`invalid_details`",
    ),
    ("a word with the answer", up_to(at.COMMENT_MAX_CHARS, "characters"), "`invalid_comment`"),
    ("wrong numbers", str(at.WRONG_NUMBERS_MAX), "`wrong_number`; with the last one the question is cancelled"),
    ("each text of the source", amount(at.SOURCE_MAX_BYTES, "bytes"), "`invalid_source`"),
    ("the request's body", size(at.QUESTION_BODY_MAX_BYTES), "`payload_too_large`"),
    ("open at once, of one owner", str(at.PENDING_MAX_PER_OWNER), "`too_many_pending`"),
    (
        "that a sender found no place is told on the phone",
        f"once; again after {span(at.REFUSAL_QUIET_SECONDS)} if a place was free since",
        "it is refused all the same",
    ),
    ("missed ones that wait for a phone", f"{at.MISSED_MAX_PER_DEVICE} of a device, for 72 h", "the oldest go"),
    ("one long poll", between(0, at.WAIT_MAX_SECONDS), "`invalid_wait`"),
    ("readable after its end", span(at.RETENTION_SECONDS), "`not_found`"),
)
REST: Final[tuple[Row, ...]] = (
    (
        "a file's name",
        f"{up_to(at.FILENAME_MAX_CHARS, 'characters')}, with one of {len(at.FILENAME_EXTENSIONS)} endings of text",
        "`invalid_filename`",
    ),
    ("a file's text", f"1 byte to {size(at.DOCUMENT_MAX_BYTES)}", "`payload_too_large`"),
    (
        "how long a ring sounds",
        between(at.RING_MIN_SECONDS, at.RING_MAX_SECONDS, at.RING_DEFAULT_SECONDS),
        "`invalid_duration`",
    ),
    ("how late a ring may come", span(at.RING_DELIVERY_SECONDS), "it never sounds"),
    ("a reminder's text", up_to(at.REMINDER_MESSAGE_MAX_CHARS, "characters"), "`invalid_message`"),
    ("how far ahead", between(at.REMINDER_MIN_AHEAD_SECONDS, at.REMINDER_MAX_AHEAD_SECONDS), "`invalid_at`"),
    ("`Idempotency-Key`", up_to(at.IDEMPOTENCY_KEY_MAX_CHARS, "characters"), "`invalid_idempotency_key`"),
    ("the first reply to it is kept", span(at.REPEAT_SECONDS), "the request is done anew"),
    ("such replies kept, of one owner", f"{at.KEPT_REPLIES_MAX_PER_OWNER:,}", "the oldest of them go, once a minute"),
    ("reminders that wait, of one owner", f"{at.REMINDERS_MAX_PER_OWNER:,}", "`too_many_reminders`"),
)
PUSHOVER: Final[tuple[Row, ...]] = (
    ("message", up_to(at.PUSHOVER_MESSAGE_MAX_CHARS, "characters"), "cut, with a warning"),
    ("title", up_to(at.PUSHOVER_TITLE_MAX_CHARS, "characters"), "cut, with a warning"),
    ("link", up_to(at.PUSHOVER_URL_MAX_CHARS, "characters"), "cut, with a warning"),
    ("title of the link", up_to(at.PUSHOVER_URL_TITLE_MAX_CHARS, "characters"), "cut, with a warning"),
    ("all of it together, without the picture", size(at.PUSHOVER_ENVELOPE_MAX_BYTES), "`payload_too_large`"),
    ("a picture that is shown", size(at.IMAGE_MAX_BYTES), "left out, with a warning"),
    ("a picture that is sent along", size(at.PICTURE_MAX_BYTES), "`payload_too_large`"),
    (
        "how often an emergency rings",
        f"every {span(at.EMERGENCY_RETRY_MIN_SECONDS)} or more; {span(at.EMERGENCY_RETRY_DEFAULT_SECONDS)} by itself",
        "the nearest that may be, with a warning",
    ),
    (
        "how long an emergency rings",
        f"{span(at.EMERGENCY_EXPIRE_MAX_SECONDS)}; {span(at.EMERGENCY_EXPIRE_DEFAULT_SECONDS)} where you do not say",
        "the nearest that may be, with a warning",
    ),
    ("tags of an emergency", str(at.EMERGENCY_TAGS_MAX), "cut, with a warning"),
    ("emergencies at once, of one owner", str(at.EMERGENCIES_MAX_PER_OWNER), "`too_many_emergencies`"),
    ("a receipt can be read", span(at.RECEIPT_SECONDS), "`not_found`"),
)
DEVICES: Final[tuple[Row, ...]] = (
    ("devices of one owner", str(at.DEVICES_MAX_PER_OWNER), "`too_many_devices`"),
    ("sender tokens of one owner", str(at.TOKENS_MAX_PER_OWNER), "`too_many_tokens`"),
    ("name of a device or a token", up_to(at.LABEL_MAX_CHARS, "characters"), "`invalid_label`"),
    ("a setup code lives", span(at.SETUP_CODE_SECONDS), "`invalid_code`"),
    ("a pairing lives", span(at.PAIRING_SECONDS), "`not_found`"),
    ("pairings open at once", str(at.PAIRINGS_MAX_PER_OWNER), "`too_many_pairings`"),
    (
        "wrong codes from one address",
        f"{at.WRONG_GUESSES_MAX}, then a pause of {span(at.WRONG_GUESSES_WAIT_SECONDS)}",
        "`rate_limit_exceeded`",
    ),
    ("streams of one device", str(at.STREAMS_MAX_PER_DEVICE), "the oldest ends"),
    ("sent from device to device", size(at.RELAY_BLOB_MAX_BYTES), "`invalid_relay`"),
    ("the same, in a minute", str(at.RELAYS_PER_MINUTE), "`rate_limit_exceeded`"),
)
RESERVED: Final = f"{at.QUEUE_RESERVED_ENTRIES} entries and {size(at.QUEUE_RESERVED_BYTES)}"
QUEUES: Final[tuple[Row, ...]] = (
    (
        "queue of a device",
        f"{at.QUEUE_MAX_ENTRIES:,} entries, {size(at.QUEUE_MAX_BYTES - at.QUEUE_RESERVED_BYTES)}",
        "the warning `queue_full`, or the error if all are full",
    ),
    (
        "of these, what other devices sent",
        f"{at.RELAYED_MAX_ENTRIES:,} entries, {size(at.RELAYED_MAX_BYTES)}",
        "the oldest of them go",
    ),
    (
        "all queues of one owner",
        size(at.OWNER_QUEUES_MAX_BYTES - at.QUEUE_RESERVED_BYTES),
        "`queue_full`",
    ),
    ("each has more, for questions and closings alone", RESERVED, "`queue_full`"),
    ("how long anything waits", span(at.QUEUE_TTL_MAX_SECONDS), "it is dropped"),
)
BODIES: Final[tuple[Row, ...]] = (
    ("JSON where no row says otherwise", size(at.JSON_BODY_MAX_BYTES), "`payload_too_large`"),
    ("JSON around a file", size(at.DOCUMENT_BODY_MAX_BYTES), "`payload_too_large`"),
    ("JSON around what devices send each other", size(at.RELAY_BODY_MAX_BYTES), "`payload_too_large`"),
    (
        "an agent's event, to `/hooks/claude-code` or `reflecto hook`",
        size(at.EVENT_MAX_BYTES),
        "`payload_too_large`",
    ),
    ("a call of an MCP tool, at `/mcp`", size(at.MCP_BODY_MAX_BYTES), "`payload_too_large`"),
    ("a picture in a form, which is thrown away", size(at.PICTURE_MAX_BYTES), "`payload_too_large`"),
    ("objects, lists, texts and commas of JSON", f"{at.JSON_VALUES_MAX:,} together", "`invalid_json`"),
    ("fields of a form", str(at.FORM_FIELDS_MAX), "`invalid_body`"),
    ("fields of a query", str(at.QUERY_FIELDS_MAX), "further ones are not looked at"),
    (
        "names in `device`",
        f"{at.SELECTOR_NAMES_MAX}, {amount(at.SELECTOR_MAX_CHARS, 'characters')} together",
        "`invalid_device`",
    ),
)
SECTIONS: Final = {
    "A notification": NOTIFICATION,
    "A question": QUESTION,
    "Files, rings, reminders": REST,
    "Pushover's API": PUSHOVER,
    "Devices and tokens": DEVICES,
    "What waits for devices": QUEUES,
    "Bodies of requests": BODIES,
}

REQUESTS: Final = """\
## Requests

`limits = "free"` in the [settings](self-host.md#settings) picks a profile; `[limit_overrides]` changes single rows.
Beyond a limit: `429` with `Retry-After`.

| layer | counts | `self-hosted` (the default) | `free` | `pro` |
|---|---|---|---|---|
"""
LAYERS: Final = {
    "token_burst": "calls of one token in 60 s",
    "token_monthly": "calls of one token in a calendar month, UTC",
    "receiver_daily": "what one owner gets in 24 h",
    "ip_minute": "calls without a valid token from one address in 60 s",
    "ip_hour": "the same in an hour",
}


def render() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for heading, rows in SECTIONS.items():
        lines = [f"| {what} | {how_much} | {beyond} |" for what, how_much, beyond in rows]
        parts.append("\n".join([f"## {heading}", "", "| what | limit | beyond it |", "|---|---|---|", *lines, ""]))
    profiles = [PROFILES[name] for name in ("self-hosted", "free", "pro")]
    layers = []
    for layer, counts in LAYERS.items():
        values = [getattr(profile, layer) for profile in profiles]
        shown = " | ".join("none" if value is None else f"{value:,}" for value in values)
        layers.append(f"| `{layer}` | {counts} | {shown} |\n")
    return "\n".join([*parts, REQUESTS + "".join(layers)])


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
