"""What one call of a coding agent's hook comes down to: questions for the phone, a notice, or nothing. No I/O.

A shell, the command or the server's endpoint, puts the questions and hands the taps to `decide`. It is no decision,
and the agent goes on as if there were no hook, unless every question was answered with an explicit tap.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from pathlib import PurePath, PureWindowsPath
from typing import Any, Final, Literal, NamedTuple

from reflecto.agents.shown import clip_bytes, shown_line
from reflecto.contract.json_bodies import UnusableJsonError, check_values, decoded
from reflecto.contract.limits import QUESTION_MAX_CHARS, TITLE_MAX_BYTES

TETHER_SECONDS: Final = 20  # a hook that is killed cannot withdraw; its question then ends by itself
NOTICE_MAX_BYTES: Final = 800  # each escaped to two in JSON they still fit the envelope of 2048

Event = Mapping[str, Any]
Reply = dict[str, Any]


class UnusableEventError(ValueError):
    """What the hook was given is not one JSON object."""


class Prompt(NamedTuple):
    """One question for the phone.

    `key` is the idempotency key of this call of the hook; see `key_after`. A tap on the choice with the index
    `handover` leaves the decision to the terminal. `given` are the request's fields `details`, `source`, `danger`,
    `confirm` and `comment`; `plain` is the question without them, for a server or phones that do not know them.
    """

    question: str
    choices: tuple[str, ...]
    key: str
    handover: int | None = None
    given: Mapping[str, Any] = {}
    plain: "Prompt | None" = None

    def of_call(self, number: int) -> "Prompt":
        """Return the prompt of one of the calls that look the same at the same time; they are numbered from 0."""
        if not number:
            return self
        plain = self.plain.of_call(number) if self.plain else None
        return self._replace(key=call_key({"number": number, "key": self.key}), plain=plain)


class Tap(NamedTuple):
    """The answer to one question: the index of the choice, and the word that came with it."""

    choice_index: int
    comment: str | None = None


class HookOptions(NamedTuple):
    """What the person chose when the hook was installed.

    `skipped` are `notification_type`s not to pass on; `danger` says which calls are marked dangerous, `confirm` what
    allowing such a call takes on the phone.
    """

    skipped: AbstractSet[str] = frozenset()
    danger: Literal["rules", "never", "always"] = "rules"
    confirm: Literal["tap", "hold", "number"] = "tap"


def _is_elsewhere(path: str) -> str:
    raise OSError(f"{path} is on another machine")


class Machine(NamedTuple):
    """The machine where the agent runs, as far as known. `read_file` returns a text, or raises OSError."""

    host: str = ""
    home: str = ""
    read_file: Callable[[str], str] = _is_elsewhere


DEFAULTS: Final = HookOptions()
ELSEWHERE: Final = Machine()


class Notice(NamedTuple):
    """A notification, which needs no answer."""

    title: str
    message: str


class HookCall(NamedTuple):
    """`decide` turns the tap on each prompt into the reply to the agent.

    `call_id` names the tool's call that is asked about, `ends` one that is over: run, failed or refused elsewhere.
    `blocks`: the agent shows its own question only after the hook.
    """

    prompts: tuple[Prompt, ...] = ()
    notice: Notice | None = None
    decide: Callable[[Sequence[Tap]], Reply] = lambda _taps: {}
    call_id: str | None = None
    ends: str | None = None
    blocks: bool = False


NOTHING: Final = HookCall()


def parse_event(text: str | bytes) -> Event:
    """Return the agent's JSON object. Raises: UnusableEventError."""
    try:
        decoded_text = text if isinstance(text, str) else decoded(text)
        check_values(decoded_text)
        event = json.loads(decoded_text)
    except UnusableJsonError as error:
        raise UnusableEventError(f"the hook's input {error}") from None
    except (ValueError, RecursionError):
        raise UnusableEventError("the hook's input is not JSON") from None
    if not isinstance(event, dict):
        raise UnusableEventError("the hook's input is not a JSON object")
    return event


def text_of(event: Event, name: str) -> str:
    """Return a text field of the event; empty if it is missing or no text."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def folder_line(event: Event) -> str:
    """Return the line of a question that names the folder where the agent works, unchanged."""
    return f"Folder: {text_of(event, 'cwd') or 'unknown'}"


def call_key(call: Mapping[str, object]) -> str:
    """Return the idempotency key for this content: a repeated call has the same key and finds its open question."""
    return f"hook-{sha256(json.dumps(_shortened(call), sort_keys=True).encode()).hexdigest()}"


def _shortened(value: object) -> object:
    """Return `value` with a digest in place of each long text: writing megabytes as JSON would hold up a server."""
    match value:
        case str() if len(value) > QUESTION_MAX_CHARS:
            return [sha256(value.encode("utf-8", "surrogatepass")).hexdigest()]
        case Mapping():
            return {name: _shortened(each) for name, each in value.items()}
        case list() | tuple():
            return [_shortened(each) for each in value]
    return value


def call_id(event: Event, turn: str) -> str:
    """Return an id that all events of one call of a tool share, and so do calls that look the same.

    `turn` is the field that tells one prompt's calls from the next's. A PermissionRequest has no id of the tool's use.
    """
    names = ("session_id", "agent_id", turn, "tool_name", "tool_input")
    return call_key({name: event.get(name) for name in names}).removeprefix("hook-")


def key_after(key: str, ended_id: str) -> str:
    """Return the key to ask with after `key` led to a question that has ended.

    That question belonged to an earlier call that looked the same, and its answer must not be taken for this one.
    Two repeats of this call that both find it come to the same new key.
    """
    return call_key({"after": ended_id, "key": key})


def notice(agent: str, what: str, folder: str, message: str) -> HookCall:
    """Return a call that only sends a notice, cut to its limits; the text says how much is missing."""
    folder = folder[-QUESTION_MAX_CHARS:]
    name = (PureWindowsPath(folder) if "\\" in folder else PurePath(folder)).name
    title = " · ".join(part for part in (f"{agent}: {what}" if what else agent, shown_line(name)) if part)
    return HookCall(notice=Notice(clip_bytes(title, TITLE_MAX_BYTES), clip_bytes(message, NOTICE_MAX_BYTES)))
