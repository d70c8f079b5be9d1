"""The entry point. Commands are imported when they run, so that `reflecto ask` does not pay for the server."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from reflecto import __version__
from reflecto.cli.exits import Exit, drop, report

# name: (module:attribute, one line of help)
COMMANDS: Final = {
    "serve": ("reflecto.cli.serve:serve", "Run the server, ready to pair a phone."),
    "invite": ("reflecto.cli.invite:invite", "Print a setup code for a further phone."),
    "phone": ("reflecto.cli.phone:phone", "Be a phone in this terminal: show questions, answer with a key."),
    "ask": ("reflecto.cli.ask:ask", "Ask on the phone and wait for the tap."),
    "send": ("reflecto.cli.send:send", "Send a notification."),
    "file": ("reflecto.cli.file:send_file", "Send a text file for the phone's downloads."),
    "ring": ("reflecto.cli.ring:ring", "Let the phone sound until it is found."),
    "remind": ("reflecto.cli.remind:remind", "Set, list and drop reminders."),
    "devices": ("reflecto.cli.devices:devices", "List the owner's devices."),
    "tokens": ("reflecto.cli.tokens:tokens", "List, make and revoke sender tokens, as the phone in this terminal."),
    "login": ("reflecto.cli.login:login", "Store the server and the token that the commands above use."),
    "doctor": ("reflecto.cli.doctor:doctor", "Check the way to the server and the phone, and say what to do."),
    "demo": ("reflecto.cli.demo:demo", "See one question asked and answered, without a phone."),
}


class CommandTable(click.Group):
    """A group whose help needs no command to be imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, D102 -- click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002, D102 -- click's
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002, D102 -- click's
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:  # noqa: D102 -- click's
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would exit with 1, which is `ask`'s "another choice".
            raise click.exceptions.Exit(Exit.OUTPUT_CLOSED) from None


@click.group(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="reflecto")
def cli() -> None:
    """Ask your own phone from scripts, jobs and agents, through your own server."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Expected failures are one line on stderr, never a traceback."""
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
    return code


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
