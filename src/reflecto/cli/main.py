"""The entry point. Commands are imported when they run, so that `reflecto ask` does not pay for the server."""

import atexit
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from reflecto.cli.command_table import CommandTable
from reflecto.cli.exits import Exit, drop, report
from reflecto.cli.streams import fill_missing_streams

COMMANDS: Final = {
    "serve": ("reflecto.cli.serve:serve", "Run the server, ready to pair a phone."),
    "invite": ("reflecto.cli.invite:invite", "Print a setup code, for a phone of yours or another person's."),
    "backup": ("reflecto.cli.backup:backup", "Write the whole server into one file, while it runs."),
    "restore": ("reflecto.cli.backup:restore", "Put a backup into a data folder."),
    "migrate": ("reflecto.cli.migrate:migrate", "Move the whole server to PostgreSQL, or back to a folder."),
    "keys": ("reflecto.cli.keys:keys", "Take a server's own keys to another machine."),
    "phone": ("reflecto.cli.phone:phone", "Be a phone in this terminal: show questions, answer with a key."),
    "ask": ("reflecto.cli.ask:ask", "Ask on the phone and wait for the tap."),
    "send": ("reflecto.cli.send:send", "Send a notification."),
    "file": ("reflecto.cli.file:send_file", "Send a text file for the phone's downloads."),
    "ring": ("reflecto.cli.ring:ring", "Let the phone sound until it is found."),
    "remind": ("reflecto.cli.remind:remind", "Set, list and drop reminders."),
    "devices": ("reflecto.cli.devices:devices", "List the owner's devices."),
    "tokens": ("reflecto.cli.tokens:tokens", "List, make and revoke sender tokens, as this terminal's phone."),
    "mcp": ("reflecto.cli.mcp:mcp", "Give an agent tools that ask and notify (MCP)."),
    "hook": ("reflecto.cli.hook:hook", "Be the hook of a coding agent: its questions come to the phone."),
    "login": ("reflecto.cli.login:login", "Store the server and the token that the commands above use."),
    "doctor": ("reflecto.cli.doctor:doctor", "Check the way to the server and the phone, and say what to do."),
    "completion": ("reflecto.cli.completion:completion", "Print the completion script for bash, zsh or fish."),
    "demo": ("reflecto.cli.demo:demo", "See one question asked and answered, without a phone."),
}


class _TopLevel(CommandTable):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would exit with 1, which is `ask`'s "another choice".
            raise click.exceptions.Exit(Exit.OUTPUT_CLOSED) from None


def _show_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  click's form
    """Print the version. It is looked up only when asked for, because in a clone that starts git."""
    if not wanted or context.resilient_parsing:
        return
    from reflecto.version import version

    click.echo(f"reflecto, version {version()}")
    context.exit()


@click.group(
    cls=_TopLevel,
    table=lambda: COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Ask your own phone from scripts, jobs and agents, through your own server."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Expected failures are one line on stderr, never a traceback."""
    fill_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode shows the code points
    code = _run(args)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = Exit.OUTPUT_CLOSED
    except OSError as error:
        code = report(error)
    if code == Exit.OUTPUT_CLOSED:
        drop(sys.stdout)
    if args is None:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process here: taking the interpreter apart is a sixth of a short command's time.

    Whatever runs an event loop may have more to put away, and returns.
    """
    if "asyncio" in sys.modules:
        return
    atexit._run_exitfuncs()  # noqa: SLF001 -- what the interpreter itself would do first
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _run(args: Sequence[str] | None) -> int:
    try:
        code = cli.main(args=args, prog_name="reflecto", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- the last stop before the interpreter, which would exit with 1
        return report(error)
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
