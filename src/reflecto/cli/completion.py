"""`reflecto completion`: the script that lets a shell complete our commands and options."""

from typing import Final

import click

VARIABLE: Final = "_REFLECTO_COMPLETE"  # click looks at it; the script sets it
SHELLS: Final = ("bash", "zsh", "fish")
EXAMPLES: Final = """\b
Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  reflecto completion bash > ~/.local/share/bash-completion/completions/reflecto
  reflecto completion zsh > ~/.zfunc/_reflecto      # with ~/.zfunc in fpath
  reflecto completion fish > ~/.config/fish/completions/reflecto.fish
"""


@click.command(epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    It runs `reflecto` itself at each completion, so it knows what the installed version knows.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"there is no completion for {shell}")
    click.echo(kind(context.find_root().command, {}, "reflecto", VARIABLE).source())
