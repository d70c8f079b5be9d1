"""Wire models of sender tokens. Source: api.md "Identities", devices.md "Tokens, from a phone only"."""

from typing import Annotated, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.limits import LABEL_MAX_CHARS
from reflecto.contract.wire import NOT_BLANK, Request, is_not_blank

Priority = Literal["min", "low", "default", "high", "urgent"]
Scope = Literal["send", "ask", "ring", "remind", "files"]

PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)  # in rising order
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


def is_above(priority: Priority, cap: Priority) -> bool:
    """Tell whether `priority` is higher than `cap`."""
    return PRIORITIES.index(priority) > PRIORITIES.index(cap)


class CreateTokenRequest(Request, frozen=True, kw_only=True):
    """Make a sender token. No `priority_cap` means no cap; no `scopes` means all of them."""

    field_errors: ClassVar = {
        "label": errors.INVALID_LABEL,
        "priority_cap": errors.INVALID_PRIORITY_CAP,
        "scopes": errors.INVALID_SCOPES,
        "test": errors.INVALID_TEST,
    }
    field_checks: ClassVar = {"label": is_not_blank, "scopes": lambda scopes: len(set(scopes)) == len(scopes)}

    label: Annotated[str, Meta(min_length=1, max_length=LABEL_MAX_CHARS, pattern=NOT_BLANK)]
    priority_cap: Priority | None = None
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)] = SCOPES
    test: bool = False


class NewToken(msgspec.Struct, frozen=True):
    """A token in the only reply that ever holds its plaintext."""

    id: str
    label: str
    token: str


class TokenState(msgspec.Struct, frozen=True):
    """A token without its plaintext. `last_used_at` may lag by a minute. Times are Unix seconds."""

    id: str
    label: str
    test: bool
    priority_cap: Priority | None
    scopes: tuple[Scope, ...]
    created_at: int
    last_used_at: int | None


class TokenLabel(msgspec.Struct, frozen=True):
    """All that a desktop may see of a token."""

    id: str
    label: str


class TokenList(msgspec.Struct, frozen=True):
    """The owner's live tokens, oldest first, as a phone sees them."""

    tokens: tuple[TokenState, ...]


class TokenLabelList(msgspec.Struct, frozen=True):
    """The same, as a desktop sees them."""

    tokens: tuple[TokenLabel, ...]
