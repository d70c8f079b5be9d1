"""`reflecto login`: store which server to ask, and with which token."""

import re
import sys
from pathlib import Path
from typing import Final

import click

from reflecto.cli.connection import (
    Connection,
    client_file,
    connection_options,
    read_client_file,
    read_token,
    warn_if_exposed,
    write_client_file,
)

EXAMPLES: Final = """\b
Examples:
  reflecto login --url https://reflecto.example
  printf '%s' "$TOKEN" | reflecto login --url https://reflecto.example --token -
"""


@click.command(epilog=EXAMPLES)
@connection_options
@click.option("--no-check", is_flag=True, help="Store them without asking the server whether it takes the token.")
def login(url: str | None, token: str | None, config_file: Path | None, *, no_check: bool) -> None:
    """Store the server and the token that `reflecto ask` uses, in a file that only you can read.

    What is not given is asked for; the token is not shown while it is typed.
    """
    from reflecto.client.errors import PermissionDenied
    from reflecto.client.protocol import base_url, common_headers
    from reflecto.client.sync import Reflecto

    path = client_file(config_file)
    server = _without_enrolment(url or _prompt_url(path))
    connection = Connection(base_url(server), (read_token(token) or _prompt_token()).strip())
    common_headers(connection.token)  # refuses what cannot be a sender token, also with --no-check
    warn_if_exposed(connection.url)
    if not no_check:
        with Reflecto(connection.url, connection.token, retry_for=0) as reflecto:
            try:
                reflecto.check()
            except PermissionDenied:
                click.echo("Warning: the server knows this token, but it may not ask questions", err=True)
    write_client_file(path, connection)
    click.echo(f"Saved in {path}", err=True)


def _without_enrolment(url: str) -> str:
    """Return the server of a link that pairs phones, which is easily pasted here; the API is not below that link."""
    return re.sub(r"/enroll/?(#.*)?\Z", "", url.strip())


def _prompt_url(path: Path) -> str:
    _need_terminal("--url")
    stored = read_client_file(path, is_required=False).get("url")
    url: str = click.prompt("Server", default=stored or "http://127.0.0.1:8787", err=True)
    return url


def _prompt_token() -> str:
    _need_terminal("--token -")
    token: str = click.prompt("Token", hide_input=True, err=True)
    return token


def _need_terminal(option: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(f"there is no terminal to type at; use {option}")
