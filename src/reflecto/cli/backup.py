"""`reflecto backup` and `reflecto restore`: a whole server in one file, and back."""

import time
from datetime import datetime
from pathlib import Path

import click
import msgspec

from reflecto.backup import Manifest, back_up
from reflecto.backup import restore as put_back
from reflecto.cli.server_options import require_sqlite, server_options
from reflecto.config import load_settings

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@server_options
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Overwrite FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what is in it as one JSON object.")
def backup(
    *, config_file: Path | None, data: Path | None, store: str | None, file: Path, replace: bool, as_json: bool
) -> None:
    """Write store and keys into FILE, while the server runs or not, and check what was written.

    Whoever has FILE has the server: it is readable by you alone, keep it so.
    """
    settings = load_settings({"data": data, "store": store}, config_file=config_file)
    require_sqlite(
        settings, "back it up with pg_dump or your provider's backups, and its keys once, with `reflecto keys export`"
    )
    folder = settings.data
    manifest = back_up(folder, file, int(time.time()), replace=replace)
    if as_json:
        click.echo(msgspec.json.encode(manifest).decode())
    else:
        click.echo(f"{file}: {_size(manifest)} of {folder}, checked. Keep it private: it holds the server's keys.")


@click.command()
@server_options
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Overwrite the server that is in the data folder.")
@click.option("--json", "as_json", is_flag=True, help="Print what was in it as one JSON object.")
def restore(
    *, config_file: Path | None, data: Path | None, store: str | None, file: Path, replace: bool, as_json: bool
) -> None:
    """Put the server in FILE into the data folder, once it is checked. The server must be stopped.

    What happened since the backup is unknown to it: tokens revoked since are valid again.
    """
    settings = load_settings({"data": data, "store": store}, config_file=config_file)
    require_sqlite(settings, "put its own backup back with pg_restore, and its keys with `reflecto keys import`")
    folder = settings.data
    manifest = put_back(file, folder, replace=replace)
    if as_json:
        click.echo(msgspec.json.encode(manifest).decode())
        return
    made = datetime.fromtimestamp(manifest.made_at).astimezone().isoformat(" ", "seconds")
    click.echo(f"{folder}: as it was at {made}, {_size(manifest)}. Start the server.")


def _size(manifest: Manifest) -> str:
    size = sum(each.size for each in manifest.files.values())
    devices = "1 device" if manifest.devices == 1 else f"{manifest.devices} devices"
    owners = "1 owner" if manifest.owners == 1 else f"{manifest.owners} owners"
    return f"{size / 1e6:.1f} MB with {devices} of {owners}"
