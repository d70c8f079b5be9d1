"""What the log tells of a running server: one line for each event, with ids and addresses.

Never a label, a text, a choice or a token. Lines are `name key=value …`, or objects of JSON, and stay as they are:
programs read them (docs/self-host.md "The log" has the list, and a filter for fail2ban).
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from reflecto.core.clock import Clock
from reflecto.core.networks import network_of
from reflecto.core.rules.windows import RollingWindow

REFUSALS_PER_ADDRESS: Final = 10  # lines a minute: enough for a ban, whatever the address does
REFUSALS_IN_ALL: Final = 100  # lines a minute, from however many addresses

_PLAIN: Final = re.compile(r"[\w.:/@%\[\]+-]+", re.ASCII)
_logger: Final = logging.getLogger("reflecto.events")


class Event(msgspec.Struct, frozen=True):
    """One kind of line. `keys` are what it names, in their order; `meaning` is for the page."""

    name: str
    keys: tuple[str, ...]
    meaning: str
    level: int = logging.INFO

    def log(self, **values: object) -> None:
        """Write the line; a key without a value is left out."""
        if not _logger.isEnabledFor(self.level):
            return
        if unknown := values.keys() - set(self.keys):
            raise TypeError(f"{self.name} has no {', '.join(sorted(unknown))}")
        line = EventLine(self.name, {key: values[key] for key in self.keys if values.get(key) is not None})
        # Made here rather than by `log`, which looks for its caller first: half of what a line costs, told in no line.
        _logger.handle(_logger.makeRecord(_logger.name, self.level, "", 0, line, (), None))


class EventLine(msgspec.Struct, frozen=True):
    """The message of an event's log record: what happened, and to what. A formatter may write it in its own form."""

    name: str
    fields: Mapping[str, object]  # numbers and words, in the order of the event's keys

    def __str__(self) -> str:
        """Return it as text, `name key=value …`."""
        return " ".join([self.name, *(f"{key}={_word(value)}" for key, value in self.fields.items())])


SERVER_STARTED: Final = Event("server_started", ("version", "listening", "url"), "it takes requests from here on")
SERVER_STOPPED: Final = Event("server_stopped", (), "it ended on a signal, with everything written")
WORKER_RESTARTED: Final = Event(
    "worker_restarted",
    ("worker", "code"),
    "one of `workers` (0 is the first) had ended (`code`, negative: by that signal), and is started again",
    logging.WARNING,
)
CONNECTIONS_FULL: Final = Event(
    "connections_full",
    ("open", "files_max"),
    "new connections get 503: the process may have `files_max` files open; raise `LimitNOFILE` or `ulimit -n`",
    logging.WARNING,
)
CONNECTIONS_FREE: Final = Event("connections_free", ("open",), "there is room again")
DEVICE_JOINED: Final = Event(
    "device_joined",
    ("device", "owner", "device_class", "by"),
    "paired: `by` is `setup_code` or the phone that let it in",
)
DEVICE_REMOVED: Final = Event("device_removed", ("device", "owner", "by"), "unpaired, `by` itself or another device")
OWNER_REMOVED: Final = Event(
    "owner_removed", ("owner", "by"), "all of an owner's devices, tokens and questions are gone"
)
TOKEN_CREATED: Final = Event("token_created", ("token", "owner", "by"), "a device made a token")
TOKEN_CHANGED: Final = Event("token_changed", ("token", "owner", "by"), "a phone named, coloured or muted a token")
TOKEN_REVOKED: Final = Event("token_revoked", ("token", "owner", "by"), "a device revoked a token")
TOKEN_REFUSED: Final = Event(
    "token_refused", ("address",), "a call with a token that is none of this server's", logging.WARNING
)
CODE_REFUSED: Final = Event(
    "code_refused", ("address",), "a setup code or an invitation that is wrong, used or over", logging.WARNING
)
REFUSALS_LEFT_OUT: Final = Event(
    "refusals_left_out", ("lines",), "so many of the two above were not written: there are bounds", logging.WARNING
)
QUESTION_ASKED: Final = Event(
    "question_asked", ("question", "token", "phones"), "stored, and queued for so many phones"
)
QUESTION_ANSWERED: Final = Event("question_answered", ("question", "token", "device"), "the first tap")
QUESTION_NUMBER_WRONG: Final = Event(
    "question_number_wrong",
    ("question", "token", "device", "tries_left"),
    "a tap with another number than the asker shows; with none left the question is cancelled",
    logging.WARNING,
)
QUESTION_WITHDRAWN: Final = Event("question_withdrawn", ("question", "token"), "its asker no longer wants to know")
QUESTION_DISMISSED: Final = Event(
    "question_dismissed", ("question", "token", "device"), "its owner refused to answer it"
)
QUESTION_ABANDONED: Final = Event("question_abandoned", ("question", "token"), "nobody waited for it; see `tether`")
QUESTION_EXPIRED: Final = Event("question_expired", ("question", "token"), "nobody answered in time")
EMERGENCY_RAISED: Final = Event(
    "emergency_raised", ("message", "token", "devices"), "stored, and rings so many devices from now on"
)
EMERGENCY_ENDED: Final = Event(
    "emergency_ended", ("message", "status", "device"), "`acknowledged` on this device, `cancelled` or `expired`"
)
PUSH_REFUSED: Final = Event(
    "push_refused", ("service", "status", "reason"), "once for each push service and reason", logging.WARNING
)
PUSH_FAILED: Final = Event("push_failed", ("service", "status", "reason"), "tried again, or the subscription is over")
MESSAGE_SENT: Final = Event("message_sent", ("message", "type", "devices"), "queued for so many devices", logging.DEBUG)

EVENTS: Final = (
    SERVER_STARTED,
    SERVER_STOPPED,
    WORKER_RESTARTED,
    CONNECTIONS_FULL,
    CONNECTIONS_FREE,
    DEVICE_JOINED,
    DEVICE_REMOVED,
    OWNER_REMOVED,
    TOKEN_CREATED,
    TOKEN_CHANGED,
    TOKEN_REVOKED,
    TOKEN_REFUSED,
    CODE_REFUSED,
    REFUSALS_LEFT_OUT,
    QUESTION_ASKED,
    QUESTION_ANSWERED,
    QUESTION_NUMBER_WRONG,
    QUESTION_WITHDRAWN,
    QUESTION_DISMISSED,
    QUESTION_ABANDONED,
    QUESTION_EXPIRED,
    EMERGENCY_RAISED,
    EMERGENCY_ENDED,
    PUSH_REFUSED,
    PUSH_FAILED,
    MESSAGE_SENT,
)


class Refusals:
    """Tells of wrong tokens and codes, which strangers can send as fast as they like, in bounded numbers of lines."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of_address = RollingWindow(REFUSALS_PER_ADDRESS, 60)
        self._in_all = RollingWindow(REFUSALS_IN_ALL, 60)
        self._left_out = 0

    def tell(self, event: Event, address: str) -> None:
        """Log that a call from `address` was refused, unless there were too many such lines in the last minute."""
        now, network = self._clock.now(), network_of(address)
        if not self._of_address.remaining(network, now) or not self._in_all.remaining("", now):
            self._left_out += 1
            return
        self._of_address.add(network, now)
        self._in_all.add("", now)
        if self._left_out:
            REFUSALS_LEFT_OUT.log(lines=self._left_out)
            self._left_out = 0
        event.log(address=address)


def _word(value: object) -> str:
    """Return it as one word, quoted where it is none: nothing that came from outside may look like a line's end."""
    if isinstance(value, int):
        return str(value)
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
