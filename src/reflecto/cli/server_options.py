"""The options of all commands that work on the server's own store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def server_options(command: F) -> F:
    """Add --config and --data."""
    command = click.option(
        "--data", type=click.Path(path_type=Path, file_okay=False), help="Data folder.  [default: the platform's]"
    )(command)
    return click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file with settings; REFLECTO_CONFIG names one too.",
    )(command)
