"""`reflecto migrate`: a whole server from SQLite to PostgreSQL, and back."""

import asyncio
import json
from pathlib import Path

import click

from reflecto.config import load_settings
from reflecto.store_move import is_database, move

PLACE = "FOLDER|URL"


@click.command()
@click.option("--from", "source", required=True, metavar=PLACE, help="Data folder, or postgresql://user@host/database.")
@click.option("--to", "target", required=True, metavar=PLACE, help="The same: where nothing is yet.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file with settings; REFLECTO_CONFIG names one too.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the server's own keys, if --from is a database and REFLECTO_KEYS is not set.",
)
@click.option("--json", "as_json", is_flag=True, help="Print how many rows moved, by table, as one JSON object.")
def migrate(source: str, target: str, config_file: Path | None, data: Path | None, *, as_json: bool) -> None:
    """Copy the whole server to an empty place, and check every row there. The server must be stopped.

    Phones, tokens, receipts, reminders and questions go on as they were. The source stays: do not start it again.

    Command lines can be read by others: PGPASSWORD or ~/.pgpass has the database's password.
    """
    moved = asyncio.run(move(source, target, load_settings({"data": data}, config_file=config_file)))
    if as_json:
        click.echo(json.dumps({"rows": moved.rows}))
        return
    click.echo(", ".join(f"{count} {table}" for table, count in moved.rows.items() if count) + ": copied and checked.")
    click.echo(f"Start the server with {_start(target)}")


def _start(target: str) -> str:
    if is_database(target):
        return "REFLECTO_STORE set to the database, and the keys that it had: `reflecto keys`."
    return f"--data {target}, and no --store."
