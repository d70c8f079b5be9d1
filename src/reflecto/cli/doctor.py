"""`reflecto doctor`: is the way to the server and to the phone open, and if not, what to do."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflecto.cli.connection import Connection, connection_options, find_connection, find_url, login_command
from reflecto.cli.exits import message_of
from reflecto.cli.findings import Finding, failed, ok, show, skipped
from reflecto.cli.progress_line import ProgressLine

if TYPE_CHECKING:
    from reflecto.phone.state import PhoneState


@click.command()
@connection_options
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The state file of `reflecto phone`, for the checks that need a phone.  [default: the platform's]",
)
@click.option("--full", is_flag=True, help="Check also whether a reply may be held back for 50 seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(
    url: str | None,
    token: str | None,
    config_file: Path | None,
    state: Path | None,
    *,
    full: bool,
    as_json: bool,
) -> int:
    """Check configuration, URL, DNS, certificate, server, clock, token, phone and proxy, and say what to do.

    Nothing is sent to a phone. The checks of the event stream and, with --full, of long polls take the keys of a phone
    enrolled in this terminal. Exits with 0 if nothing has failed, else with 1.
    """
    findings = []
    with ProgressLine(sys.stderr, lambda: "Checking ..."):
        for finding in examine(url, token, config_file, state, full=full):
            findings.append(finding)
            if not as_json:
                show(finding)
    is_well = all(finding.verdict != "failed" for finding in findings)
    if as_json:
        click.echo(json.dumps({"ok": is_well, "checks": [asdict(finding) for finding in findings]}))
    return 0 if is_well else 1


def examine(
    url: str | None, token: str | None, config_file: Path | None, state: Path | None, *, full: bool
) -> Iterator[Finding]:
    """Yield the findings. Each check comes after those that it depends on."""
    from reflecto.cli.examine_phone import check_long_poll, check_stream
    from reflecto.cli.examine_server import check_server, check_url
    from reflecto.cli.examine_token import check_phone, check_token

    connection: Connection | None = None
    try:
        connection = find_connection(url, token, config_file)
        yield ok("configuration", f"{connection.url}, and a token for it")
        server_url: str | None = connection.url
    except click.UsageError as error:
        yield failed("configuration", message_of(error), login_command(url or "https://reflecto.example", config_file))
        server_url = find_url(url, config_file)
    if server_url is None:
        return
    usable = yield from check_url(server_url)
    reachable = usable is not None and (yield from check_server(usable))
    if usable is None or not reachable:
        yield skipped("token", "not checked: the server cannot be asked")
        return
    if connection is not None:
        known = yield from check_token(usable, connection.token)
        if known:
            yield from check_phone(usable, connection.token)
    phone = _phone_of(state, usable)
    yield from check_stream(phone)
    identity = phone.identity if phone is not None else None
    yield from check_long_poll(usable, connection.token if connection else None, identity, wanted=full)


def _phone_of(state: Path | None, url: str) -> "PhoneState | None":
    """Return the phone in this terminal, if it is one of this very server: its token is for no other."""
    from reflecto.phone.state_file import StateError, StateFile, default_state_path

    try:
        phone = StateFile(state or default_state_path()).load()
    except StateError:
        return None
    return phone if phone.identity is not None and phone.identity.url.lower() == url.lower() else None
