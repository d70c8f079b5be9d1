"""What a person chooses for dangerous calls, at install and in the hook's own command."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
Danger = Literal["rules", "never", "always"]
Confirm = Literal["tap", "hold", "number"]


def danger_options(command: F) -> F:
    """Add what the person chooses for dangerous calls."""
    command = click.option(
        "--confirm",
        type=click.Choice(["tap", "hold", "number"]),
        default="tap",
        show_default=True,
        help="What it takes on the phone to allow a dangerous call: a tap, a press of a second, or two digits that are "
        "shown where the agent runs.",
    )(command)
    return click.option(
        "--danger",
        type=click.Choice(["rules", "never", "always"]),
        default="rules",
        show_default=True,
        help="Which calls are marked dangerous: those that docs/hooks.md lists, none, or all.",
    )(command)
