"""The options of all commands that work on the server's own store."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from reflecto.config import Settings

F = TypeVar("F", bound=Callable[..., Any])


def folder_option(settings: Settings) -> str:
    """Return ` --data FOLDER` for a command that is to work on the same store; nothing where that is the default."""
    return "" if settings.data == Settings().data else f" --data {shlex.quote(str(settings.data.absolute()))}"


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
