"""What a question may carry beyond question, choices, lifetime and key. Source: ask.md."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from reflecto.contract.question_states import SIGNED_FIELDS, Commenting, Confirm, Danger

if TYPE_CHECKING:  # a program that sends and never asks loads no blocks
    from reflecto.contract.details import Block


class Given(TypedDict, total=False):
    """Fields that a question is asked with; None is the same as leaving one out. The phone signs what is given.

    details: up to 12 blocks, together at most 48 KiB: `TextBlock`, `CodeBlock`, `DiffBlock`, `FieldsBlock`, or the same
        as dictionaries. `file_details`, `diff_details` and `fit_details` make them.
    source: what the program says of itself: any of "app", "host", "where", "session", each of at most 100 bytes.
    danger: "high" where a wrong tap does harm; by default "normal".
    confirm: how the first choice is tapped: "tap", "hold" (a second), or "number": `Question.confirm_number` is to be
        shown where the program runs, and typed on the phone.
    comment: "optional" offers the person a word with the tap, `Answer.comment`; by default "none".
    """

    details: "Sequence[Block | Mapping[str, Any]] | None"
    source: Mapping[str, str] | None
    danger: Danger | None
    confirm: Confirm | None
    comment: Commenting | None


def given_fields(given: Given) -> dict[str, Any]:
    """Return the fields as they go out, without those that are None. Raises: TypeError for what is no such field."""
    unknown = given.keys() - set(SIGNED_FIELDS)
    if unknown:
        raise TypeError(f"a question has no field {min(unknown)!r}")
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if isinstance(details := fields.get("details"), str | bytes | Mapping | msgspec.Struct):
        raise TypeError(f"details must be a sequence of blocks, not one {type(details).__name__}")
    plain: dict[str, Any] = msgspec.to_builtins(fields)
    return plain


def check_number_is_shown(given: Given, on_pending: object) -> None:
    """Refuse a question whose number nobody would see. Raises: TypeError."""
    if given.get("confirm") == "number" and on_pending is None:
        raise TypeError('confirm="number" needs on_pending, which shows question.confirm_number where the program runs')
