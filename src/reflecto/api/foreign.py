"""What senders made for ntfy and for Gotify say, in the words of this API.

ntfy's put all but the text into headers and count priorities from 1 to 5; Gotify's count from 0 to 10, in the body.
Source: ntfy "Publishing", Gotify "POST /message"; RFC 2047, RFC 9218.
"""

import re
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from quopri import decodestring
from typing import Any, Final, Literal

from reflecto.contract.caveats import Caveat
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.tokens import GOTIFY_PRIORITIES, Priority

Headers = Iterable[tuple[bytes, bytes]]

# Field to the names of its header, the first one given counts. The order is ntfy's.
NTFY_HEADERS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "title": (b"x-title", b"title", b"ti", b"t"),
    "priority": (b"x-priority", b"priority", b"prio", b"p"),
    "tags": (b"x-tags", b"tags", b"tag", b"ta"),
    "url": (b"x-click", b"click"),
    "markdown": (b"x-markdown", b"markdown", b"md"),
}
NTFY_PRIORITIES: Final[Mapping[str, Priority]] = {
    "1": "min",
    "2": "low",
    "3": "default",
    "4": "high",
    "5": "urgent",
    "max": "urgent",
}
# They change what ntfy does so much that a sender must hear that they do nothing here.
NTFY_HEADERS_NOT_TAKEN: Final = (
    *(b"x-delay", b"delay", b"x-at", b"at", b"x-in", b"in"),
    *(b"x-actions", b"actions", b"action"),
    *(b"x-attach", b"attach", b"a", b"x-filename", b"filename", b"file", b"f"),
    *(b"x-icon", b"icon"),
    *(b"x-email", b"x-e-mail", b"email", b"e-mail", b"mail", b"e"),
    *(b"x-call", b"call"),
    *(b"x-template", b"template", b"tpl"),
    *(b"x-cache", b"cache", b"x-firebase", b"firebase"),
)
# The same of fields. Any other unknown field is ignored, so that later versions may add some.
NTFY_FIELDS_NOT_TAKEN: Final = ("topic", "click", "attach", "filename", "icon", "delay", "email", "call")
GOTIFY_FIELDS_NOT_TAKEN: Final = ("extras",)
NTFY_ACTION_FIELDS_NOT_TAKEN: Final = ("clear", "method", "headers", "body", "intent", "extras")
_SWITCHES: Final = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
_DECODED_MAX_CHARS: Final = 4_096  # what is longer is too long for every field, and would take a while
# Not email.header's decoder: it is quadratic, and takes charsets that make lone surrogates.
_ENCODED_WORD: Final = re.compile(r"=\?(utf-8|us-ascii|iso-8859-1)\?([bq])\?([^?\s]*)\?=", re.IGNORECASE)
_BETWEEN_ENCODED_WORDS: Final = re.compile(r"(?<=\?=)\s+(?==\?)")
_HTTP_PRIORITY: Final = re.compile(r"\s*[ui]\s*(?:[=,;]|$)", re.IGNORECASE)  # RFC 9218: u=1, i
_JSON_OBJECT: Final = re.compile(r'\{\s*"[^"]*"\s*:')


def in_our_words(
    fields: Mapping[str, Any], media_type: str, headers: Headers, *, typed: bool
) -> tuple[Mapping[str, Any], list[Caveat]]:
    """Return the fields that `read_fields` found, and caveats for what was only guessed.

    Headers stand beside plain text alone. JSON and forms say everything themselves; in them a whole number from 0 to 10
    is Gotify's priority. What cannot be understood stays as it is, so that the field's own error is raised.
    """
    if typed and media_type != "application/json":
        return _with_ntfy_headers(fields, media_type, headers)
    found, caveats = _with_gotify_priority(fields, typed=typed)
    if ignored := list(_fields_not_taken(fields)):
        caveats.append(_not_taken("field", ignored))
    return found, caveats


def _with_ntfy_headers(
    fields: Mapping[str, Any], media_type: str, headers: Headers
) -> tuple[Mapping[str, Any], list[Caveat]]:
    caveats = []
    if _looks_like_json(fields["message"]):
        caveats.append(
            Caveat("looks_like_json", "The body was sent as it is. For its fields: Content-Type: application/json")
        )
    found: dict[str, Any] = {name: _first(headers, names) for name, names in NTFY_HEADERS.items()}
    found = {name: value for name, value in found.items() if value is not None}
    priority = found.get("priority", "").lower()
    if priority in NTFY_PRIORITIES:
        caveats.append(_foreign_priority(priority, "ntfy", NTFY_PRIORITIES[priority]))
    if "priority" in found:
        found["priority"] = NTFY_PRIORITIES.get(priority, priority)
    if "tags" in found:
        found["tags"] = found["tags"].split(",")
    if "markdown" in found:
        found["markdown"] = _SWITCHES.get(found["markdown"].lower(), found["markdown"])
    elif media_type == "text/markdown":
        found["markdown"] = True
    ignored = list(dict.fromkeys(name.decode() for name, _ in headers if name in NTFY_HEADERS_NOT_TAKEN))
    if ignored:
        caveats.append(_not_taken("header", ignored))
    return {**found, **fields}, caveats


def _with_gotify_priority(fields: Mapping[str, Any], *, typed: bool) -> tuple[Mapping[str, Any], list[Caveat]]:
    given = fields.get("priority")
    if isinstance(given, bool) or not isinstance(given, int if typed else str):
        return fields, []
    for number, priority in enumerate(GOTIFY_PRIORITIES):
        if str(given) == str(number):
            return {**fields, "priority": priority}, [_foreign_priority(str(number), "Gotify", priority)]
    return fields, []


def _fields_not_taken(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of ntfy's and Gotify's fields that say something and do nothing here."""
    for name in (*NTFY_FIELDS_NOT_TAKEN, *GOTIFY_FIELDS_NOT_TAKEN):
        if fields.get(name) not in (None, ""):
            yield name
    actions = fields.get("actions")
    if isinstance(actions, str):
        with suppress(UnreadableJsonError):  # its own error comes later
            actions = read_json(actions, list[Any])
    given = [each for each in actions if isinstance(each, dict)] if isinstance(actions, list) else []
    if any(each.get("action", "view") != "view" for each in given):  # a button opens a page, as "view" does
        yield "actions.action"
    yield from (f"actions.{name}" for name in NTFY_ACTION_FIELDS_NOT_TAKEN if any(name in each for each in given))


def _not_taken(what: Literal["field", "header"], names: Sequence[str]) -> Caveat:
    code = "header_ignored" if what == "header" else "fields_ignored"
    return Caveat(code, f"Not taken here: the {what}{'s' if len(names) > 1 else ''} {', '.join(names)}")


def _foreign_priority(given: str, whose: str, priority: Priority) -> Caveat:
    return Caveat("foreign_priority", f"Priority {given} was read as {whose}'s, which is {priority} here")


def _looks_like_json(text: str) -> bool:
    stripped = text.strip()
    return stripped.endswith("}") and _JSON_OBJECT.match(stripped) is not None


def _first(headers: Headers, names: tuple[bytes, ...]) -> str | None:
    """Return the value of the first of `names` that says something. Browsers and proxies set `Priority` too."""
    given: dict[bytes, str] = {}
    for name, value in headers:
        if name in names and (text := _text_of(value)) and not (name == b"priority" and _HTTP_PRIORITY.match(text)):
            given.setdefault(name, text)
    return next((given[name] for name in names if name in given), None)


def _text_of(value: bytes) -> str:
    """Return a header's text: UTF-8, else Latin-1, as older HTTP clients write it; RFC 2047's encoded words decoded."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if len(text) > _DECODED_MAX_CHARS:
        return text
    return _ENCODED_WORD.sub(_decoded_word, _BETWEEN_ENCODED_WORDS.sub("", text))


def _decoded_word(word: re.Match[str]) -> str:
    charset, encoding, encoded = word.groups()
    try:
        raw = a2b_base64(encoded, strict_mode=True) if encoding in "bB" else decodestring(encoded.encode(), header=True)
        return raw.decode(charset)
    except ValueError:  # no base64, or not of its charset
        return word[0]
