"""Commands as a table, imported when they run."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

# name: (module:attribute, one line of help)
Commands = Mapping[str, tuple[str, str]]


class CommandTable(click.Group):
    """A group whose help needs no command to be imported. `table` is looked at whenever it is needed."""

    def __init__(self, *arguments: Any, table: Callable[[], Commands], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, D102 -- click's
        return list(self._table())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002, D102 -- click's
        if cmd_name not in self._table():
            return None
        module, _, attribute = self._table()[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(  # noqa: D102 -- click's
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._table() and not name.startswith("-") and not ctx.resilient_parsing:
            # click looks for similar names only among commands that are imported already.
            from difflib import get_close_matches

            close = [repr(each) for each in get_close_matches(name, self._table())]
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002, D102 -- click's
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._table().items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: D102 -- click's
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=line) for name, (_, line) in self._table().items() if name.startswith(incomplete)
        ]
