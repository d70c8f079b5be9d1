"""`reflecto hook install` and `uninstall`: an agent's settings file, changed and nothing else in it."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from reflecto.agents.hook_call import HookOptions
from reflecto.agents.hook_groups import (
    CLAUDE_CODE_DEFAULT,
    CLAUDE_CODE_EVENTS,
    CODEX_DEFAULT,
    CODEX_EVENTS,
    TIMEOUT_MIN_SECONDS,
    CommandHook,
    HttpHook,
    claude_code_groups,
    codex_groups,
)
from reflecto.agents.hook_settings import Group
from reflecto.agents.tool_rules import OUR_TOOLS
from reflecto.cli.agent_settings_file import SettingsFile
from reflecto.cli.connection import find_connection, find_url
from reflecto.cli.exits import say
from reflecto.cli.hook_wishes import Confirm, Danger, danger_options
from reflecto.cli.times import duration_seconds

F = TypeVar("F", bound=Callable[..., Any])

NOT_LOGGED_IN: Final = "Warning: there is no server and token yet, so the hook decides nothing; run `reflecto login`"
UNSET_TOKEN: Final = "Claude Code must find the sender token in the environment variable REFLECTO_TOKEN"
WHERE_NUMBERS_ARE: Final = (
    "The number shows in tmux's status line or the window's title, and `reflecto hook numbers` prints it"
)
TRUST_IN_CODEX: Final = "Codex runs new hooks once you trust them: /hooks in Codex"

EXAMPLES: Final = """\b
Examples:
  reflecto hook install claude-code
  reflecto hook install claude-code --events PermissionRequest,Stop --timeout 20m
  reflecto hook install claude-code --confirm number
  reflecto hook install claude-code --print
"""


def _events_type(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        if unknown := [name for name in names if name not in known] or ([] if names else [text]):
            raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(known)}")
        return names

    return read


def _timeout_type(text: str) -> int:
    seconds = duration_seconds(text)
    if seconds < TIMEOUT_MIN_SECONDS:
        raise click.BadParameter(f"a tap needs time: at least {TIMEOUT_MIN_SECONDS} seconds")
    return seconds


def _options(known: Sequence[str], default: Sequence[str]) -> Callable[[F], F]:
    def add(command: F) -> F:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
            click.option("--print", "only_print", is_flag=True, help="Print what would be added, and change nothing."),
            click.option(
                "--timeout",
                "timeout_seconds",
                type=_timeout_type,
                metavar="DURATION",
                help="How long a question may wait, such as 10m.  [default: what suits each event]",
            ),
            click.option(
                "--events",
                type=_events_type(known),
                metavar="NAME,…",
                default=",".join(default),
                show_default=True,
                help=f"Of {', '.join(known)}.",
            ),
        ):
            command = option(command)
        return _place_options(danger_options(command))

    return add


def _place_options(command: F) -> F:
    command = click.option("--settings", type=click.Path(path_type=Path, dir_okay=False), help="Another file.")(command)
    return click.option(
        "--project/--user", "is_project", help="The file of the project in this folder, or yours.  [default: user]"
    )(command)


@click.command("claude-code", epilog=EXAMPLES)
@_options(CLAUDE_CODE_EVENTS, CLAUDE_CODE_DEFAULT)
@click.option("--http", "over_http", is_flag=True, help="Let the server be the hook: no command runs here.")
@click.option("--url", help="The server, with --http; else REFLECTO_URL, else the file of `reflecto login`.")
def install_claude_code(
    settings: Path | None,
    events: tuple[str, ...],
    timeout_seconds: int | None,
    url: str | None,
    danger: Danger,
    confirm: Confirm,
    *,
    is_project: bool,
    over_http: bool,
    only_print: bool,
    as_json: bool,
) -> None:
    """Add the hook to Claude Code's settings.json.

    Installing again with other options replaces what was added before. The file is backed up beside itself, and
    everything else in it stays as it is.
    """
    if url and not over_http:
        raise click.UsageError("--url goes with --http; the command finds its server as `reflecto ask` does")
    if over_http and confirm == "number":
        raise click.UsageError("--confirm number needs the command: over --http nothing can show a number here")
    wishes = HookOptions(danger=danger, confirm=confirm)
    command = _command("claude-code", is_project=is_project)
    hook = HttpHook(_server(url), wishes) if over_http else CommandHook(command, wishes)
    groups = claude_code_groups(hook, events, timeout_seconds)
    notes = [UNSET_TOKEN] if over_http else _warnings()
    if confirm == "number":
        notes.append(WHERE_NUMBERS_ARE)
    file = _claude_code_file(settings, is_project=is_project)
    _install("claude-code", file, groups, notes, only_print=only_print, as_json=as_json, rule=OUR_TOOLS)


@click.command("codex")
@_options(CODEX_EVENTS, CODEX_DEFAULT)
def install_codex(
    settings: Path | None,
    events: tuple[str, ...],
    timeout_seconds: int | None,
    danger: Danger,
    confirm: Confirm,
    *,
    is_project: bool,
    only_print: bool,
    as_json: bool,
) -> None:
    """Add the hook to Codex's hooks.json.

    Codex waits for the phone before it asks in the terminal, so a question's time is shorter here. The file is backed
    up beside itself, and everything else in it stays as it is.
    """
    hook = CommandHook(_command("codex", is_project=is_project), HookOptions(danger=danger, confirm=confirm))
    groups = codex_groups(hook, events, timeout_seconds)
    notes = [*_warnings(), TRUST_IN_CODEX, *([WHERE_NUMBERS_ARE] if confirm == "number" else [])]
    file = _codex_file(settings, is_project=is_project)
    _install("codex", file, groups, notes, only_print=only_print, as_json=as_json)


@click.command("claude-code")
@_place_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def uninstall_claude_code(settings: Path | None, *, is_project: bool, as_json: bool) -> None:
    """Remove from Claude Code's settings.json what `reflecto hook install` added."""
    _uninstall("claude-code", _claude_code_file(settings, is_project=is_project), as_json=as_json, rule=OUR_TOOLS)


@click.command("codex")
@_place_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def uninstall_codex(settings: Path | None, *, is_project: bool, as_json: bool) -> None:
    """Remove from Codex's hooks.json what `reflecto hook install` added."""
    _uninstall("codex", _codex_file(settings, is_project=is_project), as_json=as_json)


def _install(
    agent: str,
    path: Path,
    groups: dict[str, Group],
    notes: Sequence[str],
    *,
    only_print: bool,
    as_json: bool,
    rule: str | None = None,
) -> None:
    if only_print:
        hooks = {"hooks": {event: [group] for event, group in groups.items()}}
        click.echo(json.dumps(hooks | ({"permissions": {"allow": [rule]}} if rule else {}), indent=2))
        return
    file = SettingsFile.read(path)
    change = file.add_hooks(agent, groups, rule)
    if as_json:
        click.echo(json.dumps(change.fields()))
    say(f"{'Added to' if change.changed else 'Nothing to do in'} {change.path}: {', '.join(change.events)}")
    for note in notes:
        say(note)


def _uninstall(agent: str, path: Path, *, as_json: bool, rule: str | None = None) -> None:
    change = SettingsFile.read(path).remove_hooks(agent, rule)
    if as_json:
        click.echo(json.dumps(change.fields()))
    say(f"Removed from {change.path}: {', '.join(change.events)}" if change.changed else f"Nothing to do in {path}")


def _claude_code_file(settings: Path | None, *, is_project: bool) -> Path:
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    return settings or (Path(".claude") if is_project else home) / "settings.json"


def _codex_file(settings: Path | None, *, is_project: bool) -> Path:
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    return settings or (Path(".codex") if is_project else home) / "hooks.json"


def _server(url: str | None) -> str:
    from reflecto.client.protocol import base_url

    found = find_url(url, None)
    if found is None:
        raise click.UsageError("no server: give --url, set REFLECTO_URL, or run `reflecto login`")
    return base_url(found)


def _command(agent: str, *, is_project: bool) -> str:
    """Return how the agent's shell starts this very program: by name where that finds it, through a link as pipx makes.

    A PATH with the environment itself is this terminal's alone; the agent may be started in another. A project's
    settings are shared with others, who have it elsewhere.
    """
    found = shutil.which("reflecto")
    here = Path(sys.executable).with_name("reflecto")
    is_linked = found is not None and Path(found).parent.resolve() != here.parent.resolve()
    if is_project or (found and is_linked and Path(found).resolve() == here.resolve()):
        return f"reflecto hook {agent}"
    program = [str(here)] if here.is_file() else [sys.executable, "-m", "reflecto.cli.main"]
    return f"{shlex.join(program)} hook {agent}"


def _warnings() -> list[str]:
    try:
        find_connection(None, None, None)
    except click.UsageError:
        return [NOT_LOGGED_IN]
    return []
