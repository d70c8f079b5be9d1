"""An invitation on the terminal: link, code, QR code, and which devices can open the link at all."""

import sys

import click

from reflecto.contract.loopback import is_loopback
from reflecto.core.enrolment import Invitation
from reflecto.core.model import Owner
from reflecto.qr import print_qr


def show_invitation(invitation: Invitation, public_url: str) -> None:
    """Print an invitation. Where a phone cannot open its link, that is said; one for this machine has no QR code."""
    link = invitation.link(public_url)
    click.echo(f"  Link  {link}\n  Code  {invitation.code}\n")
    if hint := reach(public_url):
        click.echo(hint + "\n")
    if not is_loopback(public_url):  # scanned, it would lead the phone to itself
        print_qr(link, sys.stdout)
    click.echo("In a terminal:  reflecto phone " + link)


def who_answers(joined: Owner | None, folder_option: str, *, new_owner: bool) -> str:
    """Return whose questions the phone will get and answer: those of the owner it joins, or of a new owner.

    `folder_option` is what a further command needs to find the same store.
    """
    if joined is not None:
        others = ", ".join(joined.device_labels) or "no device so far"
        return (
            f"This phone joins an owner who has: {others}.\n"
            "It gets every question that comes to them, and a tap on it counts like one of theirs.\n"
            f"For another person, who must not answer your questions:  reflecto invite{folder_option} --new-owner"
        )
    if new_owner:
        return (
            "This phone is another person's. It gets questions only from tokens made on it,\n"
            "and sees and answers nothing of anybody else's."
        )
    return "This is the server's first phone. It gets the first sender token."


def reach(public_url: str) -> str:
    """Return why a phone's browser cannot use this address, and what helps; empty for https."""
    if is_loopback(public_url):
        return "This link opens on this machine only. For a phone, give the server an https address: docs/https.md"
    if public_url.startswith("http:"):
        return "Over plain http this is for terminals only. For a phone's browser, it takes https: docs/https.md"
    return ""
