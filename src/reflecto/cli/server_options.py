"""The options of all commands that work on the server's own store."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import click

from reflecto.config import Settings

F = TypeVar("F", bound=Callable[..., Any])


class NotWithPostgresError(Exception):
    """The command works on SQLite alone; the message says what to take instead."""

    exit_code: ClassVar[int] = 2


def folder_option(settings: Settings) -> str:
    """Return ` --data FOLDER` for a command that is to work on the same server; nothing where that is the default.

    Of a database in PostgreSQL also ` --store ADDRESS`, without a password that the terminal would show.
    """
    data = "" if settings.data == Settings().data else f" --data {shlex.quote(str(settings.data.absolute()))}"
    if settings.store is None:
        return data
    has_password = ":" in urlsplit(settings.store).netloc.rpartition("@")[0] or "password=" in settings.store
    store = '"$REFLECTO_STORE"' if has_password else shlex.quote(settings.store)
    return f"{data} --store {store}"


def require_sqlite(settings: Settings, instead: str) -> None:
    """Refuse a command that would not work on the store that is set. Raises: NotWithPostgresError."""
    if settings.store is not None:
        raise NotWithPostgresError(f"this server's store is a PostgreSQL database: {instead}")


def server_options(command: F) -> F:
    """Add --config, --data and --store."""
    command = click.option(
        "--store",
        metavar="URL",
        help="PostgreSQL database, postgresql://user@host/database. With a password set REFLECTO_STORE: others "
        "can read command lines.  [default: SQLite in the data folder]",
    )(command)
    command = click.option(
        "--data", type=click.Path(path_type=Path, file_okay=False), help="Data folder.  [default: the platform's]"
    )(command)
    return click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file with settings; REFLECTO_CONFIG names one too.",
    )(command)
