"""What an agent starts: one event in, at most one JSON object out, and never a decision that nobody took."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from reflecto.agents import claude_code as claude_code_events
from reflecto.agents import codex as codex_events
from reflecto.agents.hook_call import Event, HookCall, HookOptions, Machine, UnusableEventError, parse_event
from reflecto.cli.agents_files import read_text
from reflecto.cli.connection import Connection, connection_options, find_connection, warn_if_exposed
from reflecto.cli.exits import report, say
from reflecto.cli.hook_wishes import Confirm, Danger, danger_options
from reflecto.cli.interruption import Interrupted, caller_gone_interrupts, signals_interrupt
from reflecto.cli.open_calls import OpenCalls
from reflecto.cli.times import duration_seconds
from reflecto.contract.limits import EVENT_MAX_BYTES

if TYPE_CHECKING:
    from reflecto.agents.hook_call import Reply
    from reflecto.client.errors import ReflectoError

F = TypeVar("F", bound=Callable[..., Any])

CONNECT_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 10.0  # while the agent's own question is in the terminal
REPLY_SECONDS: Final = 1.8  # while the agent waits; with the start of this program about 2
BLOCKING_RETRY_SECONDS: Final = 1.5  # ends before that, so that the failure itself is told


class HookCommand(click.Command):
    """A command that never exits with 2, which agents take for a refusal of what they want to do."""

    def make_context(self, *arguments: Any, **named: Any) -> click.Context:  # noqa: D102 -- click's
        try:
            return super().make_context(*arguments, **named)
        except click.UsageError as error:
            report(error)
            raise click.exceptions.Exit(1) from None


def hook_options(command: F) -> F:
    """Add what every hook takes."""
    command = danger_options(connection_options(command))
    return click.option(
        "--timeout",
        "timeout_seconds",
        type=duration_seconds,
        metavar="DURATION",
        default="10m",
        show_default=True,
        help="The hook's timeout in the agent's settings; the question is withdrawn before that.",
    )(command)


@click.command("claude-code", cls=HookCommand)
@hook_options
@click.option(
    "--skip",
    "skipped",
    multiple=True,
    metavar="TYPE",
    help="A notification_type not to pass on, such as permission_prompt where the question itself comes to the phone.",
)
def claude_code(
    url: str | None,
    token: str | None,
    config_file: Path | None,
    timeout_seconds: int,
    skipped: tuple[str, ...],
    danger: Danger,
    confirm: Confirm,
) -> int:
    """Be Claude Code's hook: read an event from standard input, print the decision that a tap on the phone was.

    PermissionRequest and AskUserQuestion (as PreToolUse) are asked; Notification, Stop and SubagentStop are sent.
    PostToolUse and PostToolUseFailure withdraw a question that was answered in the terminal.
    Without a tap nothing is printed, and Claude Code asks in the terminal.
    """
    options = HookOptions(frozenset(skipped), danger, confirm)
    return _run(
        claude_code_events.read_call, options, None, timeout_seconds, lambda: _connection(url, token, config_file)
    )


@click.command("codex", cls=HookCommand)
@hook_options
@click.argument("notification", metavar="[JSON]", required=False)
def codex(
    url: str | None,
    token: str | None,
    config_file: Path | None,
    timeout_seconds: int,
    notification: str | None,
    danger: Danger,
    confirm: Confirm,
) -> int:
    """Be Codex's hook: read an event from standard input, print the decision that a tap on the phone was.

    PermissionRequest is asked; Stop is sent, and so is JSON as an argument, which is how Codex calls the program
    named by `notify`.
    """
    options = HookOptions(danger=danger, confirm=confirm)
    return _run(
        codex_events.read_call,
        options,
        notification,
        timeout_seconds,
        lambda: find_connection(url, token, config_file),
    )


def _run(
    read_call: Callable[[Event, HookOptions, Machine], HookCall],
    options: HookOptions,
    argument: str | None,
    timeout_seconds: int,
    connection: Callable[[], Connection],
) -> int:
    try:
        event = parse_event(_read_input() if argument is None else argument)
        call = read_call(event, options, Machine(socket.gethostname(), str(Path.home()), read_text))
        if call.ends:
            OpenCalls().end(call.ends)
        reply = _perform(call, timeout_seconds, connection()) if call.prompts or call.notice else {}
    except Interrupted as interrupted:
        say("Error: interrupted, so there is no decision")
        return interrupted.exit_code
    except Exception as error:  # noqa: BLE001 -- whatever it is, the agent goes on as if there were no hook
        report(error)
        return 0
    if reply:
        click.echo(json.dumps(reply))
    return 0


def _connection(url: str | None, token: str | None, config_file: Path | None) -> Connection:
    if token == "-":
        raise click.UsageError("standard input is the agent's; give the token elsewhere")
    return find_connection(url, token, config_file)


def _read_input() -> bytes:
    if sys.stdin.isatty():
        raise click.ClickException("the agent gives the event on standard input; see `reflecto hook install`")
    stdin = getattr(sys.stdin, "buffer", None)
    read: bytes = stdin.read(EVENT_MAX_BYTES + 1) if stdin else sys.stdin.read().encode()
    if len(read) > EVENT_MAX_BYTES:
        raise UnusableEventError("the hook's input is too large")
    return read


def _perform(call: HookCall, timeout_seconds: int, connection: Connection) -> "Reply":
    from reflecto.cli.first_reply import within
    from reflecto.cli.hook_asking import HookAsking
    from reflecto.client.sync import Reflecto

    warn_if_exposed(connection.url)
    troubles: list[ReflectoError] = []

    def note(error: "ReflectoError | None") -> None:
        if error is not None:
            troubles.append(error)

    held_up = call.blocks or call.notice is not None
    retry_for = BLOCKING_RETRY_SECONDS if held_up else RETRY_SECONDS
    with Reflecto(
        connection.url, connection.token, retry_for=retry_for, on_trouble=note, connect_timeout=CONNECT_SECONDS
    ) as client:
        if (notice := call.notice) is not None:
            within(REPLY_SECONDS, lambda: client.send(notice.message, title=notice.title))
        if not call.prompts:
            return {}
        with signals_interrupt(), caller_gone_interrupts():
            reply_seconds = REPLY_SECONDS if held_up else None
            return HookAsking(client, timeout_seconds, troubles, reply_seconds=reply_seconds).decide(call)
