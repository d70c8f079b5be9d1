"""Wire models of sender tokens. Source: api.md "Identities", devices.md "Tokens, from a phone only"."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.caveats import WARNINGS, Caveat
from reflecto.contract.limits import LABEL_MAX_CHARS
from reflecto.contract.notes import TIME, Note, a_time, an_id, note
from reflecto.contract.wire import NOT_BLANK_NO_NUL, Request, is_not_blank

Priority = Literal["min", "low", "default", "high", "urgent"]
Scope = Literal["send", "ask", "ring", "remind", "files"]
Colour = Literal["teal", "violet", "amber", "blue", "rose", "olive", "slate", "brick"]

PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)  # in rising order
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
QUESTION_PRIORITY: Final[Priority] = "high"  # of every question and ring
COLOURS: Final[tuple[Colour, ...]] = get_args(Colour)  # in the order in which new tokens get them
FOREVER_WORD: Final = "forever"  # for an instant that never comes
MUTED_UNTIL_MAX: Final = 2**53 - 1  # what JSON numbers hold exactly
# What a number from 0 to 10 means as a priority: it is read as Gotify's.
GOTIFY_PRIORITIES: Final[tuple[Priority, ...]] = (
    "min",
    *("low", "low", "low"),
    *("default", "default", "default", "default"),
    *("high", "high", "high"),
)

_LABEL: Final = note("The token's name; devices show it as the sender", "CI")
_CAP: Final = note(
    "Higher priorities are refused; null: no cap", "high", enum=[*PRIORITIES, None], type=["string", "null"]
)
_SCOPES: Final = note("What it may do; default: everything", ["send", "ask"])
_COLOUR: Final = note("Its colour on every device", "teal")
_MUTED_UNTIL: Final = note(
    "Until when the owner has muted it, in Unix seconds; `forever`: for good; null: it is not muted",
    TIME,
    pattern=f"^{FOREVER_WORD}$",
)
_TEST: Final = note("A test token: all is checked and counted, nothing reaches a device", False)
TokenId = Annotated[str, an_id("tok", "The token's id")]


def is_above(priority: Priority, cap: Priority) -> bool:
    """Tell whether `priority` is higher than `cap`."""
    return PRIORITIES.index(priority) > PRIORITIES.index(cap)


TokenName = Annotated[str, Meta(min_length=1, max_length=LABEL_MAX_CHARS, pattern=NOT_BLANK_NO_NUL), _LABEL]


class CreateTokenRequest(Request, frozen=True, kw_only=True):
    """Make a sender token. No `priority_cap` means no cap; no `scopes` means all that the cap leaves possible."""

    field_errors: ClassVar = {
        "label": errors.INVALID_LABEL,
        "priority_cap": errors.INVALID_PRIORITY_CAP,
        "scopes": errors.INVALID_SCOPES,
        "test": errors.INVALID_TEST,
    }
    field_checks: ClassVar = {"label": is_not_blank, "scopes": lambda scopes: len(set(scopes)) == len(scopes)}

    label: TokenName
    priority_cap: Annotated[Priority | None, _CAP] = None
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1), _SCOPES, Note(uniqueItems=True)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    test: Annotated[bool, _TEST] = False


class UpdateTokenRequest(Request, frozen=True, kw_only=True):
    """Change a sender token; absent fields stay as they are."""

    field_errors: ClassVar = {
        "label": errors.INVALID_LABEL,
        "colour": errors.INVALID_COLOUR,
        "muted_until": errors.INVALID_MUTED_UNTIL,
    }
    field_checks: ClassVar = {
        "label": is_not_blank,
        "muted_until": lambda until: not isinstance(until, str) or until == FOREVER_WORD,
    }

    label: TokenName | msgspec.UnsetType = msgspec.UNSET
    colour: Annotated[Colour, _COLOUR] | msgspec.UnsetType = msgspec.UNSET
    muted_until: (
        Annotated[Annotated[int, Meta(ge=0, le=MUTED_UNTIL_MAX)] | str | None, _MUTED_UNTIL] | msgspec.UnsetType
    ) = msgspec.UNSET


class NewToken(msgspec.Struct, frozen=True):
    """A token in the only reply that ever holds its plaintext. `warnings` only where there are some."""

    id: TokenId
    label: Annotated[str, _LABEL]
    token: Annotated[
        str,
        note("The token itself, shown this once", "rfk_live_…", pattern="^rfk_(live|test)_[A-Za-z0-9]{32}$"),
    ]
    warnings: Annotated[tuple[Caveat, ...], WARNINGS] | msgspec.UnsetType = msgspec.UNSET


class TokenState(msgspec.Struct, frozen=True):
    """A token without its plaintext. `last_used_at` may lag by a minute. Times are Unix seconds."""

    id: TokenId
    label: Annotated[str, _LABEL]
    test: Annotated[bool, _TEST]
    priority_cap: Annotated[Priority | None, _CAP]
    scopes: Annotated[tuple[Scope, ...], _SCOPES]
    created_at: Annotated[int, a_time("When it was made")]
    last_used_at: Annotated[
        int | None,
        note("When it was last used, in Unix seconds, up to a minute behind; null: never", TIME),
    ]
    colour: Annotated[Colour, _COLOUR]
    muted_until: Annotated[int | str | None, _MUTED_UNTIL]


class TokenLabel(msgspec.Struct, frozen=True):
    """All that a desktop may see of a token."""

    id: TokenId
    label: Annotated[str, _LABEL]


class TokenList(msgspec.Struct, frozen=True):
    """The owner's live tokens, oldest first, as a phone sees them."""

    tokens: Annotated[tuple[TokenState, ...], Note("The oldest first")]


class TokenLabelList(msgspec.Struct, frozen=True):
    """The same, as a desktop sees them."""

    tokens: Annotated[tuple[TokenLabel, ...], Note("The oldest first")]
