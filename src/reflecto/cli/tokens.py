"""`reflecto tokens`: sender tokens, as the phone in this terminal makes them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reflecto.cli.exits import Exit
from reflecto.cli.output import show_failure, table, tell
from reflecto.contract.tokens import PRIORITIES, SCOPES, Priority, Scope
from reflecto.contract.visibility import visible
from reflecto.terminal.times import local_time

if TYPE_CHECKING:
    from reflecto.contract.tokens import TokenState
    from reflecto.phone.state import Identity
    from reflecto.phone.token_calls import TokenCalls

F = TypeVar("F", bound=Callable[..., Any])


class NoPhoneError(click.UsageError):
    """No phone is enrolled in this terminal."""


class NoSuchTokenError(Exception):
    """No live token has this id or label."""

    exit_code = Exit.USAGE
    code = "not_found"


def token_options(command: F) -> F:
    """Add --state and --json."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)
    return click.option(
        "--state",
        type=click.Path(dir_okay=False, path_type=Path),
        help="The state file of `reflecto phone`.  [default: the platform's]",
    )(command)


@click.group()
def tokens() -> None:
    """List, make and revoke sender tokens.

    Only a phone may do that. This takes the keys of `reflecto phone`, which may run at the same time.
    """


@tokens.command("list", short_help="Print labels, rights and last use of the live tokens.")
@token_options
def list_tokens(state: Path | None, *, as_json: bool) -> int:
    """Print the live tokens, without their plaintext, which nobody has any more."""

    def action(calls: "TokenCalls") -> None:
        found = calls.list()
        if as_json:
            click.echo(json.dumps({"tokens": [_fields(each) for each in found]}))
        elif found:
            table(("LABEL", "CAP", "SCOPES", "LAST USED", "ID"), [_row(each) for each in found])
        else:
            tell("There are no tokens.")

    return _run(state, action, as_json=as_json)


@tokens.command()
@click.argument("label")
@click.option("--priority-cap", type=click.Choice(PRIORITIES), help="The highest priority it may use.  [default: none]")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it may do.  [default: all]")
@click.option("--test", is_flag=True, help="A test token: everything is checked, and nothing reaches a device.")
@token_options
def create(
    label: str,
    priority_cap: Priority | None,
    scopes: tuple[Scope, ...],
    state: Path | None,
    *,
    test: bool,
    as_json: bool,
) -> int:
    """Make a token and print it, this once. LABEL says whose it is, such as "Backup on nas"."""
    from reflecto.contract.tokens import CreateTokenRequest

    def action(calls: "TokenCalls") -> None:
        request = CreateTokenRequest(
            label=label, priority_cap=priority_cap, scopes=tuple(dict.fromkeys(scopes)) or SCOPES, test=test
        )
        made = calls.create(request)
        if as_json:
            click.echo(json.dumps({"id": made.id, "label": made.label, "token": made.token}))
        else:
            click.echo(made.token)
        tell("It is shown this once. Keep it where its program reads it, for instance with `reflecto login`.")

    return _run(state, action, as_json=as_json)


@tokens.command(short_help="Revoke one; its questions and reminders go with it.")
@click.argument("token", metavar="ID|LABEL")
@token_options
def revoke(token: str, state: Path | None, *, as_json: bool) -> int:
    """Revoke a token from this instant; its questions are withdrawn and its reminders dropped."""

    def action(calls: "TokenCalls") -> None:
        token_id = _find(calls.list(), token)
        calls.revoke(token_id)
        if as_json:
            click.echo(json.dumps({"id": token_id, "revoked": True}))
        tell("It is revoked.")

    return _run(state, action, as_json=as_json)


def find_identity(state: Path | None) -> "Identity":
    """Return the identity of the phone in this terminal. Raises: NoPhoneError, StateError."""
    from reflecto.phone.state_file import StateFile, default_state_path

    path = state or default_state_path()
    identity = StateFile(path).load().identity  # only read: no lock, so that the phone may run
    if identity is None:
        raise NoPhoneError(
            f"{path} holds no phone, and only a phone may make tokens: make one in the phone's app, or enrol this"
            " terminal (`reflecto invite` at the server, then `reflecto phone LINK`), or pass its --state"
        )
    return identity


def _run(state: Path | None, action: "Callable[[TokenCalls], None]", *, as_json: bool) -> int:
    import httpx

    from reflecto.phone.token_calls import TokenCalls

    try:
        identity = find_identity(state)
        with httpx.Client() as http:
            action(TokenCalls(http, identity))
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 -- faults of this program are raised again
        return show_failure(error, as_json=as_json)
    return 0


def _find(found: "tuple[TokenState, ...]", wanted: str) -> str:
    ids = [each.id for each in found if wanted == each.id] or [each.id for each in found if wanted == each.label]
    if not ids:
        raise NoSuchTokenError(f"no live token has the id or the label {wanted!r}")
    if len(ids) > 1:
        raise NoSuchTokenError(f"{len(ids)} tokens are called {wanted!r}; name one by its id: {', '.join(ids)}")
    return ids[0]


def _fields(token: "TokenState") -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(token)
    return fields


def _row(token: "TokenState") -> tuple[str, ...]:
    label = visible(token.label) + (" (test)" if token.test else "")
    scopes = "all" if set(token.scopes) == set(SCOPES) else ",".join(token.scopes)
    used = local_time(token.last_used_at) if token.last_used_at is not None else "never"
    return (label, token.priority_cap or "none", scopes, used, token.id)
