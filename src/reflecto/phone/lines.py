"""Effects as lines for a person. Everything that came from others passes through `visible`."""

import json
import shlex
from typing import Final

import msgspec

from reflecto.contract.links import read_link
from reflecto.phone import effects
from reflecto.phone.effects import Effect
from reflecto.phone.text import cell_width, duration, local_time, visible, wrap

_GUTTER: Final = "   \u2502 "  # a vertical bar: no line of a question can pass for one of this program
_LINK: Final = "   \u2197 "  # an arrow out of here
_UNSAFE_LINK: Final = "not a safe link"
_CHOICE_INDENT: Final = "   "
_GOES_ON: Final = "\u2026 "  # what wraps: names and titles of others are in it, and must not start a line
_TOO_LATE: Final = " (your answer came too late)"
_ENDINGS: Final[dict[effects.Outcome, str]] = {
    "sent": "sent",
    "answered_elsewhere": "answered elsewhere",
    "withdrawn": "withdrawn",
    "expired": "expired",
    "not_recorded": "not recorded",
}


class Teller:
    """Turns effects into lines; questions get the numbers 1, 2, … in the order they come up."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, interaction_id: str) -> str:
        """Return what the question is called here, such as `#3`."""
        return f"#{self._numbers.setdefault(interaction_id, len(self._numbers) + 1)}"

    def question(self, opened: effects.Opened, now: float, columns: int | None) -> list[str]:
        """Return a whole question with its numbered choices. `now` is Unix seconds."""
        head = f"{self.number(opened.id)} {visible(opened.source)} asks ({duration(opened.expires_at - now)} left):"
        choices = [
            line
            for index, choice in enumerate(opened.choices)
            for line in _hang(f"{_CHOICE_INDENT}{index + 1}  ", visible(choice), columns)
        ]
        return ["", *_say(head, columns), *_quote(opened.question, columns), *choices]

    def describe(self, effect: Effect, now: float, columns: int | None) -> list[str]:
        """Return the lines that tell of `effect`."""
        match effect:
            case effects.Opened():
                return self.question(effect, now, columns)
            case effects.Missed():
                head = f"Missed: {visible(effect.source)} asked, and time ran out before it got here:"
                return ["", *_say(head, columns), *_quote(effect.question, columns)]
            case effects.Notified():
                return _notification(effect, columns)
            case effects.Reminded():
                return _reminder(effect, columns)
            case effects.Rang():
                head = f"{visible(effect.source)} rings for {effect.duration} s."
                return ["", *_say(head, columns), *(_quote(effect.message, columns) if effect.message else [])]
            case effects.DocumentSaved() | effects.DocumentUnsaved():
                return ["", *_say(_document(effect), columns)]
            case effects.Sending() | effects.Ended() | effects.LeftOpen():
                return _say(f"{self.number(effect.id)} {_progress(effect)}", columns)
            case _:
                return _say(_news(effect), columns)


def as_json(effect: Effect) -> str:
    """Return the effect as one line of JSON, in ASCII: exact for a script, harmless on a terminal."""
    return json.dumps(msgspec.to_builtins(effect))


def token_lines(shown: effects.TokenShown) -> list[str]:
    """Return a token with what to paste; never wrapped, so that it stays in one piece."""
    url, token = shlex.quote(shown.url), shown.token
    body = shlex.quote('{"question": "Deploy?"}')
    curl = (
        f"curl {url}/v1/interactions -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d {body}"
    )
    return [
        "",
        f'Sender token "{visible(shown.label)}", shown this once:',
        f"  {token}",
        "Ask with it:",
        f"  {curl}",
        "Or keep it for `reflecto ask` (paste it when asked):",
        f"  reflecto login --url {url}",
    ]


def _progress(effect: effects.Sending | effects.Ended | effects.LeftOpen) -> str:
    match effect:
        case effects.Sending():
            return f"sending: {visible(effect.choice)}"
        case effects.LeftOpen():
            return f"left open: it has no choice {visible(effect.wanted)}"
        case effects.Ended():
            choice = f": {visible(effect.choice)}" if effect.choice else ""
            by = f", on {visible(effect.by)}" if effect.by else ""
            detail = f": the server says {visible(effect.detail)}" if effect.detail else ""
            return f"{_ENDINGS[effect.outcome]}{choice}{by}{detail}{_TOO_LATE if effect.too_late else ''}"


def _document(effect: effects.DocumentSaved | effects.DocumentUnsaved) -> str:
    if isinstance(effect, effects.DocumentSaved):
        title = f' "{effect.title}",' if effect.title else ""
        return visible(f"{effect.source} sent a document,{title} {effect.byte_length} bytes: {effect.path}")
    kept = "it is kept, and tried again at the next start" if effect.kept else "it is lost"
    return visible(f"{effect.source} sent the document {effect.filename}, not saved ({effect.reason}): {kept}.")


def _news(effect: Effect) -> str:
    match effect:
        case effects.Enrolled():
            place = "the first phone of a new owner" if effect.founded else "one more device of its owner"
            text = f'Enrolled at {effect.url} as "{effect.label}", {place}.'
        case effects.TokenHeld():
            text = (
                f'A sender token "{effect.label}" was made. It is kept until this phone runs on a terminal or with '
                "--json, and shown there once."
            )
        case effects.RingMissed():
            text = f"Missed: {effect.source} rang, and it came too late to sound."
        case effects.Unsupported():
            text = f"Something of type {effect.type} came, which this version cannot show."
        case effects.Unreadable():
            text = f"Entry {effect.seq} was skipped: {effect.reason}."
        case effects.Connected():
            text = f"Connected to {effect.url}."
        case effects.Disconnected():
            text = f"Not connected: {effect.reason}. Trying again."
        case effects.Revoked():
            text = (
                f"{effect.url} does not know this device any more: it was removed. "
                "To enrol again, start with a new code from `reflecto invite`."
            )
        case _:
            text = type(effect).__name__
    return visible(text)


def _notification(notified: effects.Notified, columns: int | None) -> list[str]:
    title = f": {visible(notified.title)}" if notified.title else ""
    marks = [] if notified.priority == "default" else [f"[{visible(notified.priority)}]"]
    marks += [f"#{visible(tag)}" for tag in notified.tags]
    head = " ".join([visible(notified.source) + title, *marks])
    links = _link(notified.url_title or "", notified.url, columns) if notified.url else []
    for action in notified.actions:
        links += _link(action.label, action.url, columns)
    return ["", *_say(head, columns), *_quote(notified.message, columns), *links]


def _link(name: str, url: str, columns: int | None) -> list[str]:
    """Return a link with where it leads in front, where nothing of it can pretend to be that."""
    link = read_link(url)
    text = f"{visible(name)}: {visible(url)}" if name else visible(url)
    return _hang(_LINK, f"{link.target if link else _UNSAFE_LINK}  {text}", columns)


def _reminder(reminded: effects.Reminded, columns: int | None) -> list[str]:
    title = f": {visible(reminded.title)}" if reminded.title else ""
    late = " (late: the server was down then)" if reminded.late else ""
    head = f"Reminder of {visible(reminded.source)} for {local_time(reminded.at)}{late}{title}"
    return ["", *_say(head, columns), *_quote(reminded.message, columns)]


def _say(text: str, columns: int | None) -> list[str]:
    """Return one of this program's own lines; what does not fit on it goes on behind a mark."""
    if columns is None or cell_width(text) <= columns:
        return [text]
    first, *_ = wrap(text, columns)
    return [first, *_hang(_GOES_ON, text[len(first) :], columns, again=_GOES_ON)]


def _quote(text: str, columns: int | None) -> list[str]:
    return _hang(_GUTTER, visible(text, keep_lines=True), columns, again=_GUTTER)


def _hang(first: str, text: str, columns: int | None, *, again: str | None = None) -> list[str]:
    pieces = wrap(text, None if columns is None else columns - len(first))
    return [(first if index == 0 else again or " " * len(first)) + piece for index, piece in enumerate(pieces)]
