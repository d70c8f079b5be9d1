"""`reflecto hook`: coding agents ask on the phone through their hooks."""

from typing import Final

import click

from reflecto.cli.command_table import CommandTable

HOOKS: Final = {
    "claude-code": ("reflecto.cli.hook_run:claude_code", "Claude Code's hook: an event on standard input."),
    "codex": ("reflecto.cli.hook_run:codex", "Codex's hook, or its notify program."),
    "numbers": ("reflecto.cli.hook_number:numbers", "The numbers to type on the phone, of the calls that wait now."),
    "install": ("reflecto.cli.hook:install", "Add the hook to an agent's settings."),
    "uninstall": ("reflecto.cli.hook:uninstall", "Remove it from them."),
}
INSTALLS: Final = {
    "claude-code": ("reflecto.cli.hook_install:install_claude_code", "Claude Code's settings.json."),
    "codex": ("reflecto.cli.hook_install:install_codex", "Codex's hooks.json."),
}
UNINSTALLS: Final = {
    "claude-code": ("reflecto.cli.hook_install:uninstall_claude_code", "Claude Code's settings.json."),
    "codex": ("reflecto.cli.hook_install:uninstall_codex", "Codex's hooks.json."),
}


@click.group(cls=CommandTable, table=lambda: HOOKS)
def hook() -> None:
    """Let a coding agent ask on the phone: whether it may run a tool, and its own questions.

    `reflecto hook install claude-code` sets it up. A tap decides; silence, a lost server or any failure is no
    decision, and the agent asks in its terminal as always.
    """


@click.group(cls=CommandTable, table=lambda: INSTALLS)
def install() -> None:
    """Add the hook to an agent's settings; everything else in them stays as it is."""


@click.group(cls=CommandTable, table=lambda: UNINSTALLS)
def uninstall() -> None:
    """Remove from an agent's settings what `reflecto hook install` added."""
