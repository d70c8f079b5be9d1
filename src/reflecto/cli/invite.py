"""`reflecto invite`: a setup code for a further phone, whether the server runs or not."""

import asyncio
import json
from pathlib import Path

import click

from reflecto.bootstrap import open_services
from reflecto.cli.invitation import show_invitation, who_answers
from reflecto.cli.server_options import folder_option, server_options
from reflecto.config import Settings, load_settings
from reflecto.core.enrolment import PUBLIC_URL_FACT, Invitation, OwnerChoiceError
from reflecto.core.model import Owner


@click.command()
@server_options
@click.option("--public-url", help="Server's address in the link.  [default: the last one it was served under]")
@click.option("--owner", "owner_id", help="Whose device it will be; needed only where there are several owners.")
@click.option("--new-owner", is_flag=True, help="For another person: the phone gets devices and tokens of its own.")
@click.option("--json", "as_json", is_flag=True, help='Print {"code", "url", "expires_at"}.')
def invite(
    *,
    config_file: Path | None,
    data: Path | None,
    store: str | None,
    public_url: str | None,
    owner_id: str | None,
    new_owner: bool,
    as_json: bool,
) -> None:
    """Print a setup code for one more phone of yours: it works once, for 10 minutes.

    That phone gets every question asked from then on and can answer it: approve your deploys, say. For another
    person take --new-owner.
    """
    if owner_id and new_owner:
        raise click.UsageError("--owner and --new-owner exclude each other")
    settings = load_settings({"data": data, "store": store, "public_url": public_url}, config_file=config_file)
    try:
        invitation, url, joined = asyncio.run(_invite(settings, owner_id, new_owner=new_owner))
    except OwnerChoiceError as error:
        devices = {owner.id: ", ".join(owner.device_labels) or "no devices" for owner in error.owners}
        listed = "".join(f"\n  --owner {owner_id}  ({labels})" for owner_id, labels in devices.items())
        raise click.UsageError(f"say whose phone it will be:{listed}\n  --new-owner  (another person)") from None
    if as_json:
        made = {"code": invitation.code, "url": invitation.link(url), "expires_at": invitation.expires_at}
        click.echo(json.dumps(made))
        return
    click.echo(who_answers(joined, folder_option(settings), new_owner=new_owner) + "\n")
    click.echo("Open this link on the phone within 10 minutes, scan the code, or type it:\n")
    show_invitation(invitation, url)


async def _invite(settings: Settings, owner_id: str | None, *, new_owner: bool) -> tuple[Invitation, str, Owner | None]:
    """Return the invitation, the server's address, and whose phone it will be: None where an owner begins with it."""
    services = await open_services(settings, is_server=False)
    try:
        invitation = await services.enrolment.invite(owner_id, new_owner=new_owner)
        owners = [] if new_owner else await services.store.list_owners()
        joined = next((owner for owner in owners if owner_id in {None, owner.id}), None)
        served = await services.store.recall(PUBLIC_URL_FACT)
        return invitation, settings.public_url or served or f"http://{settings.host}:{settings.port}", joined
    finally:
        await services.store.close()
