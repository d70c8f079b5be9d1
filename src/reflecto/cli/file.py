"""`reflecto file`: a text file for the phone's downloads."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reflecto.cli.output import put, tell
from reflecto.cli.send import counted
from reflecto.cli.sending import SENDER_EXIT_CODES, Sender, finish, key_option, sender_options
from reflecto.cli.streams import read_bytes
from reflecto.contract.limits import DOCUMENT_MAX_BYTES

if TYPE_CHECKING:
    from reflecto.client.results import SentFile
    from reflecto.client.sync import Reflecto


EXAMPLES: Final = """\b
Examples:
  reflecto file report.csv --title "Orders of Monday"
  printf 'day,orders\\nMon,42\\n' | reflecto file - --name orders.csv
"""


@click.command("file", epilog=f"{EXAMPLES}\n{SENDER_EXIT_CODES}")
@click.argument("path")
@click.option("--name", help="What it is called on the phone.  [default: the file's own name]")
@click.option("-t", "--title", help="Up to 100 bytes.")
@click.option("-d", "--device", help="all, phone, desktop, a label or a device id, or several with commas.")
@key_option
@sender_options
def send_file(
    path: str,
    name: str | None,
    title: str | None,
    device: str | None,
    key: str | None,
    url: str | None,
    token: str | None,
    config_file: Path | None,
    retry_for: int,
    *,
    as_json: bool,
) -> int:
    """Send the text file PATH, of up to 128 KiB, for the phone's downloads. With - it is read from standard input."""

    def action(client: "Reflecto") -> int:
        sent = _send(client)
        if as_json:
            delivered_to = [{"device_id": each.device_id, "type": each.type} for each in sent.delivered_to]
            warnings = [{"code": each.code, "message": each.message} for each in sent.warnings]
            fields = {"document_id": sent.id, "byte_length": sent.byte_length}
            put(json.dumps(fields | {"delivered_to": delivered_to, "warnings": warnings}))
        tell(f"Sent to {counted(len(sent.delivered_to))}.")
        return finish(sent.warnings, reached=len(sent.delivered_to), selector=device)

    def _send(client: "Reflecto") -> "SentFile":
        if path != "-":
            return client.send_file(path, filename=name, title=title, device=device, idempotency_key=key)
        if token == "-":
            raise click.UsageError("only one of PATH and --token can come from standard input")
        if name is None:
            raise click.UsageError("what comes from standard input needs a --name, such as report.csv")
        content = read_bytes(sys.stdin.buffer, DOCUMENT_MAX_BYTES + 1, "the file")
        return client.send_file(filename=name, content=content, title=title, device=device, idempotency_key=key)

    return Sender(url, token, config_file, retry_for, as_json).run(action)
