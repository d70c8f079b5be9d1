"""What sets an owner's senders apart, and when one of them is muted. Source: consent.md "Who asks", "Too many"."""

from collections.abc import Collection

from msgspec import UNSET
from msgspec.structs import asdict, replace

from reflecto.contract.limits import PENDING_MAX_PER_OWNER, REFUSAL_QUIET_SECONDS
from reflecto.contract.tokens import COLOURS, Colour
from reflecto.core.model import Holder, Token, TokenChanges
from reflecto.core.rules.lookalikes import is_taken
from reflecto.core.rules.outcomes import Change, ChangeResult


def judge_change(token: Token | None, changes: TokenChanges, others: Collection[str]) -> ChangeResult:
    """Decide a change of a token beside the names of the owner's `others`."""
    if token is None:
        return ChangeResult(Change.NO_TOKEN)
    given = {name: value for name, value in asdict(changes).items() if value is not UNSET}
    changed = replace(token, **given)
    if changed.label != token.label and is_taken(changed.label, others):
        return ChangeResult(Change.LABEL_TAKEN)
    return ChangeResult(Change.CHANGED, changed)


def changes_to(token: Token) -> TokenChanges:
    """Return what makes any token of it this one."""
    return TokenChanges(label=token.label, colour=token.colour, muted_until=token.muted_until)


def next_colour(taken: Collection[Colour]) -> Colour:
    """Return the colour of a new token beside those: the first, in order, of the colours that are least in use."""
    uses = list(taken)
    return min(COLOURS, key=uses.count)


def should_tell_refusal(token: Token, holders: Collection[Holder]) -> bool:
    """Tell whether the owner is to learn that there was no place for a question of the token.

    Again only where there was a place since, which another question must have taken, and not within ten minutes.
    """
    if sum(each.questions for each in holders) < PENDING_MAX_PER_OWNER:
        return False
    newest_at = max(each.newest_at for each in holders)
    return token.refused_at is None or newest_at > token.refused_at + REFUSAL_QUIET_SECONDS


def is_muted(token: Token, now: float) -> bool:
    """Tell whether the owner has muted the token at this instant (Unix seconds)."""
    return token.muted_until is not None and now < token.muted_until
