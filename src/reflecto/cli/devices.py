"""`reflecto devices`: who gets what is sent."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflecto.cli.output import put, table, tell
from reflecto.cli.sending import Sender, sender_options
from reflecto.contract.visibility import visible
from reflecto.terminal.times import local_time

if TYPE_CHECKING:
    from reflecto.client.results import DeviceStatus
    from reflecto.client.sync import Reflecto


@click.command()
@sender_options
def devices(url: str | None, token: str | None, config_file: Path | None, retry_for: int, *, as_json: bool) -> int:
    """Print the owner's devices and whether they are connected."""

    def action(client: "Reflecto") -> int:
        found = client.devices()
        if as_json:
            listed = [_fields(each) for each in found]
            put(json.dumps({"devices": listed}))
        elif found:
            table(("LABEL", "TYPE", "CLASS", "STATE", "LAST SEEN", "ID"), [_row(each) for each in found])
        else:
            tell("No device is paired; `reflecto invite` at the server makes a setup code.")
        return 0

    return Sender(url, token, config_file, retry_for, as_json).run(action)


def _fields(device: "DeviceStatus") -> dict[str, object]:
    fields = asdict(device)
    return {"class" if name == "device_class" else name: value for name, value in fields.items()}


def _row(device: "DeviceStatus") -> tuple[str, ...]:
    seen = local_time(device.last_seen_at) if device.last_seen_at is not None else "never"
    state = "connected" if device.reachable else "away"
    return (visible(device.label), device.type, device.device_class, state, seen, device.device_id)
