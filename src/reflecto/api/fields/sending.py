"""Fields of messages, documents, rings and reminders. Source: api.md."""

from typing import Final

from reflecto.api.fields import patterns
from reflecto.api.fields.note import (
    DELIVERED_TO,
    DEVICE_TYPE,
    REMINDER_EXAMPLE,
    SELECTOR,
    WARNINGS,
    Notes,
    a_time,
    an_id,
    note,
    text_of_bytes,
    web_url,
)
from reflecto.api.foreign import GOTIFY_PRIORITIES
from reflecto.contract import limits, messages, tokens

SENDING: Final[Notes] = {
    messages.Action: {
        "label": text_of_bytes("What the button says", "Open the log", limits.ACTION_LABEL_MAX_BYTES),
        "url": web_url("What it opens"),
    },
    messages.SendRequest: {
        "message": text_of_bytes("What to say", "Backup finished", limits.MESSAGE_MAX_BYTES),
        "title": text_of_bytes("A line above it", "nas", limits.TITLE_MAX_BYTES),
        "priority": note(
            "How much it may disturb. A number is read as Gotify's: 0 min, 1 to 3 low, 4 to 7 default, 8 to 10 high",
            "default",
            type=["string", "integer"],
            enum=[*tokens.PRIORITIES, *range(len(GOTIFY_PRIORITIES))],
        ),
        "tags": note(
            f"At most {limits.TAGS_MAX} short labels of {limits.TAG_MAX_BYTES} bytes; more or longer ones are trimmed "
            "with a warning",
            ["backup"],
        ),
        "url": web_url("What a tap opens"),
        "url_title": text_of_bytes("What the link says; only with `url`", "Run 42", limits.URL_TITLE_MAX_BYTES),
        "actions": {"description": "Buttons that open a page", "maxItems": limits.ACTIONS_MAX},
        "device": SELECTOR,
        "markdown": note("The message is Markdown; raw HTML in it is shown, never run", False),
        "ttl": note(
            "Seconds the message waits for a device that is offline: floored, then clamped to 0 to "
            f"{limits.TTL_MAX_SECONDS}; 0: only devices connected now; default: {limits.TTL_MAX_SECONDS}",
            3600,
        ),
    },
    messages.Caveat: {
        "code": note("What it is, for programs", "unknown_device"),
        "message": note("The same for people", "No device is called 'Tablet'"),
    },
    messages.DeliveredTo: {"device_id": an_id("dev", "The device's id"), "type": DEVICE_TYPE},
    messages.SendResponse: {
        "id": an_id("msg", "The message's id"),
        "delivered_to": DELIVERED_TO,
        "warnings": WARNINGS,
    },
    messages.DocumentRequest: {
        "filename": note(
            "A plain name without folders that ends in a plain-text extension, never one that a tap would run",
            "report.md",
            minLength=1,
            maxLength=limits.FILENAME_MAX_CHARS,
            pattern=patterns.FILENAME,
        ),
        "content": note(
            f"The text; at most {limits.DOCUMENT_MAX_BYTES} bytes of UTF-8",
            "# Nightly report\n\nAll green.\n",
            minLength=1,
        ),
        "title": text_of_bytes("A line above the file's name", "Nightly report", limits.TITLE_MAX_BYTES),
        "device": SELECTOR,
    },
    messages.DocumentResponse: {
        "document_id": an_id("doc", "The document's id"),
        "byte_length": note("The content's length in bytes of UTF-8", 30),
        "delivered_to": DELIVERED_TO,
        "warnings": WARNINGS,
    },
    messages.RingRequest: {
        "duration": note("How long it sounds, in seconds", 30),
        "message": text_of_bytes("What to show meanwhile", "Where are you?", limits.MESSAGE_MAX_BYTES),
    },
    messages.ReminderRequest: {
        "message": note("What to be reminded of; counted in characters", "Stand-up"),
        "at": note(
            f"When: Unix seconds, or RFC 3339 with an offset; {limits.REMINDER_MIN_AHEAD_SECONDS} seconds to 365 days "
            "ahead",
            REMINDER_EXAMPLE,
            pattern=patterns.DATE_TIME,
        ),
        "title": text_of_bytes("A line above it", "Work", limits.TITLE_MAX_BYTES),
        "device": SELECTOR,
    },
    messages.ReminderResponse: {
        "reminder_id": an_id("rem", "The reminder's id"),
        "fire_at": a_time("When it will come", 3600),
        "warnings": WARNINGS,
    },
    messages.ReminderState: {
        "reminder_id": an_id("rem", "The reminder's id"),
        "message": note("What to be reminded of", "Stand-up"),
        "title": note("A line above it", "Work"),
        "fire_at": a_time("When it will come", 3600),
        "created_at": a_time("When it was set"),
    },
    messages.ReminderList: {"reminders": {"description": "The next one first"}},
}
