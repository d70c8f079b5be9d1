"""`reflecto ring`: let the phone sound until it is found."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflecto.cli.output import put, tell
from reflecto.cli.send import counted
from reflecto.cli.sending import SENDER_EXIT_CODES, Sender, finish, key_option, sender_options
from reflecto.cli.times import duration_seconds

if TYPE_CHECKING:
    from reflecto.client.sync import Reflecto


@click.command(epilog=SENDER_EXIT_CODES)
@click.option("--duration", type=duration_seconds, metavar="DURATION", help="5s to 2m.  [default: 30s]")
@click.option("-m", "--message", help="What to show meanwhile.")
@key_option
@sender_options
def ring(
    duration: int | None,
    message: str | None,
    key: str | None,
    url: str | None,
    token: str | None,
    config_file: Path | None,
    retry_for: int,
    *,
    as_json: bool,
) -> int:
    """Let every phone sound until it is found.

    A phone that does not get the ring within 60 seconds never sounds.
    """

    def action(client: "Reflecto") -> int:
        sent = client.ring(duration, message, idempotency_key=key)
        if as_json:
            put(json.dumps(asdict(sent)))
        tell(f"Ringing {counted(len(sent.delivered_to))}.")
        return finish(sent.warnings, reached=len(sent.delivered_to))

    return Sender(url, token, config_file, retry_for, as_json).run(action)
