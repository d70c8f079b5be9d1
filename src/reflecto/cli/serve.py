"""`reflecto serve`: the server, ready to pair."""

import json
import sys
from functools import partial
from pathlib import Path

import click

from reflecto.cli.invitation import show_invitation
from reflecto.cli.server_options import folder_option, server_options
from reflecto.config import Settings, load_settings
from reflecto.contract.loopback import is_loopback
from reflecto.core.enrolment import Invitation


@click.command()
@server_options
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on, 0 for a free one.  [default: 8787]")
@click.option("--workers", type=int, help="Processes that serve, with PostgreSQL only.  [default: 1]")
@click.option("--public-url", help="What phones and scripts reach this server under.  [default: http://HOST:PORT]")
@click.option("--min-phone-build", type=int, help="Refuse to ask phones whose app is older than this build.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="[default: info]")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="[default: text]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when ready, no QR code.")
def serve(*, config_file: Path | None, as_json: bool, **options: object) -> int:
    """Run the server until SIGTERM or Ctrl-C.

    On a store without owners it prints a setup code, a link and a QR code for the first phone.
    Every option can also be set as REFLECTO_<NAME> or in the TOML file given with --config.
    """
    settings = load_settings(options, config_file=config_file)
    announce = _announce_json if as_json else partial(_announce, settings)
    if settings.workers > 1:
        from reflecto import workers

        return workers.run(settings, announce)
    from reflecto import server

    server.run(settings, announce)
    return 0


def _announce(settings: Settings, url: str, _listening: str, invitation: Invitation | None) -> None:
    click.echo(f"Reflecto is ready at {url}")
    if invitation is not None:
        ways = "Open this link" if is_loopback(url) else "Open this link on it, scan the code, or type it"
        click.echo(f"\nPair your first phone within 10 minutes. {ways}:\n")
        show_invitation(invitation, url)
        # Without the folder it would make a code in another store, which this server refuses.
        click.echo(f"Too late, or another phone of yours:  reflecto invite{folder_option(settings)}\n")
    sys.stdout.flush()


def _announce_json(url: str, listening: str, invitation: Invitation | None) -> None:
    ready: dict[str, str | int | None] = {
        "url": url,
        "listening": listening,
        "code": None,
        "link": None,
        "expires_at": None,
    }
    if invitation is not None:
        ready |= {"code": invitation.code, "link": invitation.link(url), "expires_at": invitation.expires_at}
    click.echo(json.dumps(ready))
    sys.stdout.flush()
