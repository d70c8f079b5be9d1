"""Effects as lines for a person. Everything that came from others passes through `visible`."""

import json
import shlex
from typing import Final

import msgspec

from reflecto.contract.links import read_link
from reflecto.contract.visibility import visible
from reflecto.phone import effects
from reflecto.phone.effects import Effect
from reflecto.phone.markup import Markup, read_html
from reflecto.phone.question_lines import hang, question_lines, quote, say
from reflecto.terminal.times import duration, local_time

_LINK: Final = "   \u2197 "  # an arrow out of here
_UNSAFE_LINK: Final = "not a safe link"
_CHOICE_INDENT: Final = "   "
_TOO_LATE: Final = " (your answer came too late)"
_ALARM_ENDINGS: Final[dict[effects.AlarmOutcome, str]] = {
    "acknowledged": "The emergency is acknowledged",
    "cancelled": "The emergency was cancelled by its sender",
    "expired": "The emergency has expired; nobody acknowledged it",
    "not_recorded": "The server does not know the emergency any more; its sender was not told",
}
_ENDINGS: Final[dict[effects.Outcome, str]] = {
    "sent": "sent",
    "answered_elsewhere": "answered elsewhere",
    "withdrawn": "withdrawn",
    "expired": "expired",
    "not_recorded": "not recorded",
}

_REASONS: Final = {  # of a question that was withdrawn
    "abandoned": "withdrawn: its program does not wait for it any more",
    "dismissed": "refused",
    "revoked": "withdrawn: its token was revoked",
    "wrong_number": "ended: the number was typed wrong twice",
}


class LineWriter:
    """Turns effects into lines; questions get the numbers 1, 2, … in the order they come up."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, interaction_id: str) -> str:
        """Return what the question is called here, such as `#3`."""
        return f"#{self._numbers.setdefault(interaction_id, len(self._numbers) + 1)}"

    def question(self, opened: effects.Opened, now: float, columns: int | None) -> list[str]:
        """Return a whole question with its numbered choices. `now` is Unix seconds."""
        return question_lines(opened, self.number(opened.id), now, columns).whole()

    def describe(self, effect: Effect, now: float, columns: int | None) -> list[str]:
        """Return the lines that tell of `effect`."""
        match effect:
            case effects.Opened():
                return self.question(effect, now, columns)
            case effects.Missed():
                head = f"Missed: {visible(effect.source)} asked, and time ran out before it got here:"
                return ["", *say(head, columns), *quote(effect.question, columns)]
            case effects.Notified() | effects.Reminded() | effects.Alarmed():
                return _message(effect, now, columns)
            case effects.Rang():
                head = f"{visible(effect.source)} rings for {effect.duration} s."
                return ["", *say(head, columns), *(quote(effect.message, columns) if effect.message else [])]
            case effects.DocumentSaved() | effects.DocumentUnsaved():
                return ["", *say(_document(effect), columns)]
            case effects.Sending() | effects.Ended() | effects.LeftOpen() | effects.WrongNumber():
                return say(f"{self.number(effect.id)} {_progress(effect)}", columns)
            case _:
                return say(_news(effect), columns)


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


def missed_line(count: int) -> list[str]:
    """Return how many questions ended before they got here."""
    return [f"{count} questions were missed while away." if count > 1 else "1 question was missed while away."]


def _progress(effect: effects.Sending | effects.Ended | effects.LeftOpen | effects.WrongNumber) -> str:
    match effect:
        case effects.Sending():
            return f"sending: {visible(effect.choice)}"
        case effects.WrongNumber():
            return "not sent: that is another number. One more try; a wrong one ends the question."
        case effects.LeftOpen(needs_number=True):
            return "left open: somebody has to type the number that is shown where it runs"
        case effects.LeftOpen():
            return f"left open: it has no choice {visible(effect.wanted)}"
        case effects.Ended():
            choice = f": {visible(effect.choice)}" if effect.choice else ""
            by = f", on {visible(effect.by)}" if effect.by else ""
            detail = f": the server says {visible(effect.detail)}" if effect.detail else ""
            ending = _REASONS.get(effect.reason or "", _ENDINGS[effect.outcome])
            return f"{ending}{choice}{by}{detail}{_TOO_LATE if effect.too_late else ''}"


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
        case effects.Muted() | effects.Renamed() | effects.PutAside() | effects.Refused():
            text = _sender_news(effect)
        case effects.RingMissed() | effects.RingStopped() | effects.Acknowledging() | effects.AlarmEnded():
            text = _alarm_news(effect)
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


def _sender_news(effect: effects.Muted | effects.Renamed | effects.PutAside | effects.Refused) -> str:
    match effect:
        case effects.Muted(until=None):
            return f"{effect.source} is not muted any more{_where(effect.by)}."
        case effects.Muted():
            until = "for good" if effect.until == "forever" else f"until {local_time(effect.until or 0)}"
            return f"{effect.source} is muted {until}{_where(effect.by)}; u lets it ask again."
        case effects.Renamed():
            return f"{effect.source} is called {effect.label} now{_where(effect.by)}."
        case effects.PutAside():
            return f"{effect.source} is muted: its question was put aside."
        case effects.Refused():
            return f"{effect.what} was not done: the server says {effect.detail}."


def _where(by: str | None) -> str:
    return f", on {by}" if by else ""


def _alarm_news(
    effect: effects.RingMissed | effects.RingStopped | effects.Acknowledging | effects.AlarmEnded,
) -> str:
    match effect:
        case effects.RingMissed():
            return f"Missed: {effect.source} rang, and it came too late to sound."
        case effects.RingStopped():
            return f"The ring was stopped on {effect.by}."
        case effects.Acknowledging():
            return "Acknowledging the emergency."
        case effects.AlarmEnded():
            by = f" on {effect.by}" if effect.by else ""
            return f"{_ALARM_ENDINGS[effect.outcome]}{by}."


def _message(
    effect: effects.Notified | effects.Reminded | effects.Alarmed, now: float, columns: int | None
) -> list[str]:
    match effect:
        case effects.Notified():
            return _notification(effect, columns)
        case effects.Reminded():
            return _reminder(effect, columns)
        case effects.Alarmed():
            return _emergency(effect, now, columns)


def _notification(notified: effects.Notified, columns: int | None) -> list[str]:
    title = f": {visible(notified.title)}" if notified.title else ""
    marks = [] if notified.priority == "default" else [f"[{visible(notified.priority)}]"]
    marks += [f"#{visible(tag)}" for tag in notified.tags]
    marks += [f"(of {local_time(notified.timestamp)})"] if notified.timestamp is not None else []
    head = " ".join([visible(notified.source) + title, *marks])
    text, links = _body(notified.message, notified.url, notified.url_title, columns, is_html=notified.html)
    for action in notified.actions:
        links += _link(action.label, action.url, columns)
    picture = [f"{_CHOICE_INDENT}(a picture, not shown here)"] if notified.image else []
    return ["", *say(head, columns), *text, *picture, *links]


def _emergency(alarmed: effects.Alarmed, now: float, columns: int | None) -> list[str]:
    title = f": {visible(alarmed.title)}" if alarmed.title else ""
    left = duration(alarmed.expires_at - now)
    head = f"EMERGENCY of {visible(alarmed.source)}, rings every {alarmed.retry} s for {left}{title}"
    text, links = _body(alarmed.message, alarmed.url, alarmed.url_title, columns, is_html=alarmed.html)
    return ["", *say(head, columns), *text, *links]


def _body(
    message: str, url: str | None, url_title: str | None, columns: int | None, *, is_html: bool
) -> tuple[list[str], list[str]]:
    """Return the lines of a text, and those of the links in it and with it."""
    read = read_html(message) if is_html else Markup(message)
    links = [line for name, address in read.links for line in _link(name, address, columns)]
    links += _link(url_title or "", url, columns) if url else []
    return quote(read.text, columns), links


def _link(name: str, url: str, columns: int | None) -> list[str]:
    """Return a link with the host that it leads to in front, so that no part of the link can pass for that host."""
    link = read_link(url)
    text = f"{visible(name)}: {visible(url)}" if name else visible(url)
    return hang(_LINK, f"{link.target if link else _UNSAFE_LINK}  {text}", columns)


def _reminder(reminded: effects.Reminded, columns: int | None) -> list[str]:
    title = f": {visible(reminded.title)}" if reminded.title else ""
    late = " (late: the server was down then)" if reminded.late else ""
    head = f"Reminder of {visible(reminded.source)} for {local_time(reminded.at)}{late}{title}"
    return ["", *say(head, columns), *quote(reminded.message, columns)]
