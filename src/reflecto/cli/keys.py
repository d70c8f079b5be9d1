"""`reflecto keys`: a server's own keys as one secret, so that several machines can be one server."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final, TextIO

import click

from reflecto.bootstrap import open_store
from reflecto.cli.server_options import server_options
from reflecto.config import Settings, load_settings
from reflecto.crypto.server_keys import ServerKeys
from reflecto.data_folder import give_files_to_owner
from reflecto.server_keys import KEYS_VARIABLE, export_keys, import_keys, keys_of

FILE: Final = click.Path(path_type=Path, dir_okay=False)
TEXT_MAX_BYTES: Final = 4096  # of a file with keys; one of a kilobyte is none already


@click.group()
def keys() -> None:
    """Take a server's own keys to other machines, which then are the same server to phones.

    They are one secret, for the environment variable REFLECTO_KEYS. Whoever has it is the server.
    """


@keys.command("export", short_help="Print this server's keys, or write them into a file.")
@server_options
@click.argument("file", type=FILE, required=False)
def export_to(*, config_file: Path | None, file: Path | None, **options: object) -> None:
    """Print this server's keys on the terminal, or write them into FILE, which only you can read.

    FILE is one line, REFLECTO_KEYS=…, as systemd's EnvironmentFile and `docker run --env-file` take it.
    """
    _need_private_place(file)
    settings = load_settings(options, config_file=config_file)
    _hand_out(asyncio.run(_export(settings)), file)


@keys.command("new", short_help="Make keys for a server that has not been started yet.")
@click.argument("file", type=FILE, required=False)
def new(file: Path | None) -> None:
    """Make keys for a new server and print them on the terminal, or write them into FILE. Nothing else keeps them."""
    _need_private_place(file)
    _hand_out(ServerKeys.generate(), file)


@keys.command("import", short_help="Put keys into the data folder.")
@server_options
@click.argument("file", type=click.File("r", encoding="utf-8"))
def import_from(*, config_file: Path | None, file: TextIO, **options: object) -> None:
    """Put the keys in FILE (- is standard input) into the data folder of this machine.

    Only those that the store knows are taken; a store that knows none knows them from then on.
    """
    settings = load_settings(options, config_file=config_file)
    text = file.read(TEXT_MAX_BYTES).strip().removeprefix(f"{KEYS_VARIABLE}=").strip("\"'")
    asyncio.run(_import(settings, keys_of(text, file.name)))
    click.echo(f"{settings.data}: has this server's keys now")


async def _export(settings: Settings) -> ServerKeys:
    store = await open_store(settings, is_server=False)
    try:
        return await export_keys(store, settings.data, settings.keys, is_shared=settings.store is not None)
    finally:
        await store.close()


async def _import(settings: Settings, given: ServerKeys) -> None:
    store = await open_store(settings, is_server=False)
    try:
        await import_keys(store, settings.data, given)
    finally:
        await store.close()
    give_files_to_owner(settings.data)


def _need_private_place(file: Path | None) -> None:
    if file is None and not sys.stdout.isatty():
        raise click.UsageError("standard output is no terminal, and may be kept; name a FILE, which only you can read")


def _hand_out(made: ServerKeys, file: Path | None) -> None:
    line = f"{KEYS_VARIABLE}={made.to_text()}"
    if file is None:
        click.echo(line)
        click.echo("Whoever has this line is the server. Clear the terminal once it is where it belongs.", err=True)
        return
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(line + "\n")
    click.echo(f"{file}: whoever has it is the server", err=True)
