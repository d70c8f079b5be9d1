"""`reflecto send`: a notification."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reflecto.cli.output import put, tell
from reflecto.cli.sending import SENDER_EXIT_CODES, Sender, finish, key_option, read_text, sender_options
from reflecto.cli.times import duration_seconds
from reflecto.contract.tokens import PRIORITIES

if TYPE_CHECKING:
    from reflecto.client.sync import Reflecto

EXAMPLES: Final = """\b
Examples:
  reflecto send "Backup done"
  df -h | reflecto send --title "Disks" --priority high --device phone
  reflecto send "Build is green" --link https://ci.example/7 --action "Deploy=https://ci.example/7/deploy"
"""


@click.command(epilog=f"{EXAMPLES}\n{SENDER_EXIT_CODES}")
@click.argument("message", required=False)
@click.option("-t", "--title", help="Up to 100 bytes.")
@click.option("-p", "--priority", type=click.Choice(PRIORITIES), help="[default: default]")
@click.option("--tag", "tags", multiple=True, metavar="LABEL", help="Up to 5 of them.")
@click.option("--link", help="A page to open, http or https.")
@click.option("--link-title", help="What to call it.")
@click.option("--action", "actions", multiple=True, metavar="LABEL=URL", help="A button that opens a page; up to 3.")
@click.option("-d", "--device", help="all, phone, desktop, a label or a device id, or several with commas.")
@click.option("--markdown", is_flag=True, help="Render the message as Markdown.")
@click.option(
    "--ttl",
    type=duration_seconds,
    metavar="DURATION",
    help="How long it waits for a device that is offline. [default: 3d]",
)
@key_option
@sender_options
def send(
    message: str | None,
    title: str | None,
    priority: str | None,
    tags: tuple[str, ...],
    link: str | None,
    link_title: str | None,
    actions: tuple[str, ...],
    device: str | None,
    ttl: int | None,
    key: str | None,
    url: str | None,
    token: str | None,
    config_file: Path | None,
    retry_for: int,
    *,
    markdown: bool,
    as_json: bool,
) -> int:
    """Send MESSAGE to the owner's devices.

    Without MESSAGE, or with -, it is read from standard input. Nothing is printed unless --json asks for it.
    """

    def action(client: "Reflecto") -> int:
        sent = client.send(
            read_text(message, token, "MESSAGE"),
            title=title,
            priority=priority,
            tags=tags,
            url=link,
            url_title=link_title,
            actions=[_button(each) for each in actions],
            device=device,
            markdown=markdown,
            ttl=ttl,
            idempotency_key=key,
        )
        if as_json:
            put(json.dumps(asdict(sent)))
        tell(f"Sent to {counted(len(sent.delivered_to))}.")
        return finish(sent.warnings, reached=len(sent.delivered_to), selector=device)

    return Sender(url, token, config_file, retry_for, as_json).run(action)


def counted(devices: int) -> str:
    """Return how many devices, in words."""
    return "1 device" if devices == 1 else f"{devices or 'no'} devices"


def _button(option: str) -> tuple[str, str]:
    label, equals, target = option.partition("=")
    if not equals:
        raise click.UsageError("--action must look like LABEL=https://example.org/")
    return label, target
