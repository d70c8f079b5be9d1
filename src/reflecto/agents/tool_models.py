"""What each tool of the MCP server takes and gives. The descriptions are for the agent that calls it.

Bounds that count bytes are the server's to check; those in characters are here too, so that clients can tell.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from reflecto.client.given import Given
from reflecto.contract.details import Details, Source
from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.limits import (
    CHOICES_MAX,
    CHOICES_MIN,
    DEFAULT_CHOICES,
    EXPIRES_IN_DEFAULT_SECONDS,
    EXPIRES_IN_MAX_SECONDS,
    EXPIRES_IN_MIN_SECONDS,
    QUESTION_MAX_CHARS,
    REMINDER_MESSAGE_MAX_CHARS,
    RING_DEFAULT_SECONDS,
    RING_MAX_SECONDS,
    RING_MIN_SECONDS,
    TETHER_MAX_SECONDS,
    TETHER_MIN_SECONDS,
    TTL_MAX_SECONDS,
)
from reflecto.contract.question_states import SIGNED_FIELDS, Commenting, Confirm, Danger
from reflecto.contract.tokens import Priority

QuestionId = Annotated[str, Meta(pattern="^int_[0-9a-f]{32}$", description="The question's id, as ask_user gave it.")]
ReminderId = Annotated[str, Meta(pattern="^rem_[0-9a-f]{32}$", description="The reminder's id, as remind_me gave it.")]
Target = Annotated[
    str | None,
    Meta(
        description="Which devices: all (the default), phone, desktop, a label, a device_id, or several with commas. "
        "Labels may repeat; a device_id from list_devices means exactly one."
    ),
]
Title = Annotated[str | None, Meta(description="A headline of up to 100 bytes.")]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes."""


class AskUser(Arguments, frozen=True, kw_only=True):
    """A question to the person."""

    question: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=QUESTION_MAX_CHARS,
            description="What the person decides, complete in itself: they see this text and the choices, nothing of "
            "your conversation. Name what is done, to what, and what cannot be undone. Plain text.",
        ),
    ]
    choices: Annotated[
        tuple[str, ...],
        Meta(
            min_length=CHOICES_MIN,
            max_length=CHOICES_MAX,
            description="2 to 4 different labels of 1 to 100 characters, the approving one first.",
        ),
    ] = DEFAULT_CHOICES
    expires_in: Annotated[
        int,
        Meta(
            ge=EXPIRES_IN_MIN_SECONDS,
            le=EXPIRES_IN_MAX_SECONDS,
            description="Seconds until the question expires unanswered. They may be away from their phone: prefer "
            "longer to asking twice.",
        ),
    ] = EXPIRES_IN_DEFAULT_SECONDS
    tether: Annotated[
        Annotated[int, Meta(ge=TETHER_MIN_SECONDS, le=TETHER_MAX_SECONDS)] | None,
        Meta(
            description="Seconds after which the question ends, as cancelled, if you have not waited for it so long; "
            "by default it stays. Waiting is ask_user and wait_for_answer, not the time between them."
        ),
    ] = None
    details: Annotated[
        Details | None,
        Meta(
            description="What the person has to see before they decide, whole: up to 12 blocks, together at most 48 "
            "KiB. kind code for a command or a file, diff for a unified diff (its label is the path), text for prose, "
            "fields for names and values. The question then need not repeat them."
        ),
    ] = None
    source: Annotated[Source | None, Meta(description="What you are: program, machine, place, session.")] = None
    danger: Annotated[
        Danger | None, Meta(description="high if a wrong tap would do harm that cannot be undone; the phone says so.")
    ] = None
    confirm: Annotated[
        Confirm | None,
        Meta(
            description="How the first choice is tapped: tap (the default), hold (for a second), or number: the result "
            "comes at once, with a number to show to the person at this computer, which they type on the phone."
        ),
    ] = None
    comment: Annotated[
        Commenting | None, Meta(description="optional: the person may add a word to the tap; it is in the result.")
    ] = None

    def given(self) -> Given:
        """Return those of the last five that were given, as the client takes them."""
        named = {name: getattr(self, name) for name in SIGNED_FIELDS}
        given: Given = msgspec.to_builtins({name: value for name, value in named.items() if value is not None})
        return given


class ApproveToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that an agent wants to run, as Claude Code names it; it may add fields."""

    tool_name: Annotated[str, Meta(min_length=1, description="The tool.")]
    input: Annotated[dict[str, Any], Meta(description="Its input.")]
    tool_use_id: Annotated[str | None, Meta(description="Which call it is.")] = None


class PermissionDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What Claude Code understands: `updatedInput` goes with allow, `message` with deny."""

    behavior: Annotated[Literal["allow", "deny"], Meta(description="allow only after a tap on it.")]
    updatedInput: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET  # noqa: N815 -- the name is Claude Code's
    message: str | msgspec.UnsetType = msgspec.UNSET


class WaitForAnswer(Arguments, frozen=True, kw_only=True):
    """A question that is pending."""

    id: QuestionId


class CancelQuestion(Arguments, frozen=True, kw_only=True):
    """A question that no longer needs an answer."""

    id: QuestionId


class SendNotification(Arguments, frozen=True, kw_only=True):
    """A notification, which needs no answer."""

    message: Annotated[str, Meta(min_length=1, description="The text, 1 to 1500 bytes.")]
    title: Title = None
    priority: Annotated[
        Priority | None, Meta(description="high and urgent interrupt the person; default is right for most.")
    ] = None
    url: Annotated[str | None, Meta(description="An http(s) page to open, up to 512 bytes.")] = None
    url_title: Annotated[str | None, Meta(description="What to call that page; needs url.")] = None
    tags: Annotated[tuple[str, ...], Meta(description="Up to 5 short labels.")] = ()
    device: Target = None
    markdown: Annotated[bool, Meta(description="Render the message as Markdown.")] = False
    ttl: Annotated[
        Annotated[int, Meta(ge=0, le=TTL_MAX_SECONDS)] | None,
        Meta(
            description="Seconds the message waits for a device that is offline, by default 3 days; 0: only for "
            "those connected now."
        ),
    ] = None


class RemindMe(Arguments, frozen=True, kw_only=True):
    """A notification at a later time."""

    message: Annotated[str, Meta(min_length=1, max_length=REMINDER_MESSAGE_MAX_CHARS, description="The text.")]
    at: Annotated[
        int | str,
        Meta(
            description="When: Unix seconds, or RFC 3339 with an offset such as 2030-01-31T09:00:00+01:00; 60 seconds "
            "to 365 days ahead. Make sure that you know the current time and the person's time zone."
        ),
    ]
    title: Title = None
    device: Target = None


class CancelReminder(Arguments, frozen=True, kw_only=True):
    """A reminder that is no longer wanted."""

    id: ReminderId


class SendFile(Arguments, frozen=True, kw_only=True):
    """A text file for the phone's downloads."""

    filename: Annotated[
        str,
        Meta(
            description="A name without a path, up to 120 characters, with the ending of a plain-text format (txt, md, "
            "csv, json, log, py, …; not html, svg or js)."
        ),
    ]
    content: Annotated[str, Meta(description="The file's whole text, 1 byte to 128 KiB.")]
    title: Title = None
    device: Target = None


class RingPhone(Arguments, frozen=True, kw_only=True):
    """A sound that helps to find the phone."""

    duration: Annotated[int, Meta(ge=RING_MIN_SECONDS, le=RING_MAX_SECONDS, description="Seconds that it sounds.")] = (
        RING_DEFAULT_SECONDS
    )
    message: Annotated[str | None, Meta(description="What the phone shows while it sounds.")] = None


class ListDevices(Arguments, frozen=True, kw_only=True):
    """No arguments: all devices are listed."""


class QuestionResult(msgspec.Struct, frozen=True, kw_only=True):
    """Where a question stands."""

    status: Annotated[
        Literal["answered", "pending", "expired", "cancelled"],
        Meta(description="Only answered is an answer. pending, expired and cancelled are never consent."),
    ]
    id: str
    choice: Annotated[str | None, Meta(description="The label that was tapped; null unless answered.")] = None
    choice_index: Annotated[int | None, Meta(description="Its place among the choices, from 0.")] = None
    answered_by: Annotated[str | None, Meta(description="The label of the phone it was tapped on.")] = None
    answered_at: Annotated[int | None, Meta(description="Unix seconds.")] = None
    comment: Annotated[str | None, Meta(description="What the person said with the tap; follow it.")] = None
    receipt_verified: Annotated[
        bool, Meta(description="The phone signed this answer to this question, and the signature is valid.")
    ] = False
    verified: Annotated[
        bool,
        Meta(
            description="It is also signed over everything that was asked here; false where another process asked, "
            "so that the server's word for that had to do."
        ),
    ] = False
    confirm_number: Annotated[
        str | None,
        Meta(description="Only when pending: show it to the person at this computer, who types it on the phone."),
    ] = None
    poll_after_s: Annotated[
        int | None, Meta(description="Only when pending: call wait_for_answer after so many seconds.")
    ] = None
    next_step: Annotated[str, Meta(description="What this means and how to go on.")]


class DeliveredTo(msgspec.Struct, frozen=True):
    """A device whose queue holds it."""

    device_id: str
    type: DeviceType


class Warned(msgspec.Struct, frozen=True):
    """Something was accepted but not done as asked."""

    code: str
    message: str


class SentResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was sent."""

    id: str
    delivered_to: Annotated[
        tuple[DeliveredTo, ...], Meta(description="Devices that have it or will; none: nobody gets it.")
    ]
    warnings: tuple[Warned, ...]


class FileResult(SentResult, frozen=True, kw_only=True):
    """The file that was sent."""

    byte_length: int


class ReminderResult(msgspec.Struct, frozen=True, kw_only=True):
    """The reminder that was set."""

    id: str
    fire_at: Annotated[int, Meta(description="Unix seconds.")]
    warnings: tuple[Warned, ...]


class ReminderCancelled(msgspec.Struct, frozen=True, kw_only=True):
    """The reminder that was dropped."""

    id: str
    status: Literal["cancelled"] = "cancelled"


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One of the person's devices."""

    device_id: str
    label: str
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    reachable: Annotated[bool, Meta(description="Connected now; if not, what is sent waits for it.")]
    last_seen_at: Annotated[int | None, Meta(description="Unix seconds.")]


class DeviceListResult(msgspec.Struct, frozen=True, kw_only=True):
    """The person's devices."""

    devices: tuple[Device, ...]


def schema_of(model: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema of `model` with an object at its top, as MCP asks for."""
    schema = msgspec.json.schema(model)
    definitions = schema["$defs"]
    top: dict[str, Any] = definitions.pop(model.__name__)
    del top["description"]  # the tool's own says more
    for each in (top, *definitions.values()):
        del each["title"]  # the class's name tells an agent nothing
    _name_types(schema := top | ({"$defs": definitions} if definitions else {}))
    return schema


def _name_types(schema: Any) -> None:
    """Say of each enumeration that it is of strings: some clients ask for a type everywhere."""
    if isinstance(schema, dict):
        if "enum" in schema:
            schema["type"] = "string"
        for each in schema.values():
            _name_types(each)
    elif isinstance(schema, list):
        for each in schema:
            _name_types(each)
