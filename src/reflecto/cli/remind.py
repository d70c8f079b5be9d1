"""`reflecto remind`: a notification at a later time."""

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reflecto.cli.exits import Exit
from reflecto.cli.output import put, table, tell
from reflecto.cli.sending import SENDER_EXIT_CODES, Sender, finish, key_option, read_text, sender_options
from reflecto.cli.times import duration_seconds, unix_seconds
from reflecto.contract.limits import REMINDER_MAX_AHEAD_SECONDS, REMINDER_MIN_AHEAD_SECONDS
from reflecto.contract.visibility import visible
from reflecto.terminal.times import local_time

if TYPE_CHECKING:
    from reflecto.client.sync import Reflecto


EXAMPLES: Final = """\b
Examples:
  reflecto remind "Call the dentist" --in 1h30m
  id=$(reflecto remind "Stand-up" --at 9:30)
  reflecto remind --list && reflecto remind --cancel "$id"
"""


class NoSuchReminderError(Exception):
    """No reminder of this token has this id and waits."""

    exit_code = Exit.USAGE
    code = "not_found"


@click.command(epilog=f"{EXAMPLES}\n{SENDER_EXIT_CODES}")
@click.argument("message", required=False)
@click.option("--at", metavar="TIME", help="18:30, '2026-08-10 18:30', 2026-08-10T18:30:00+02:00 or Unix seconds.")
@click.option(
    "--in", "ahead", type=duration_seconds, metavar="DURATION", help="From now on the server's clock: 1m to 365d."
)
@click.option("-t", "--title", help="Up to 100 bytes.")
@click.option("-d", "--device", help="all, phone, desktop, a label or a device id, or several with commas.")
@click.option("--list", "is_list", is_flag=True, help="Print the reminders of this token that wait.")
@click.option("--cancel", metavar="ID", help="Drop one that waits.")
@key_option
@sender_options
def remind(
    message: str | None,
    at: str | None,
    ahead: int | None,
    title: str | None,
    device: str | None,
    cancel: str | None,
    key: str | None,
    url: str | None,
    token: str | None,
    config_file: Path | None,
    retry_for: int,
    *,
    is_list: bool,
    as_json: bool,
) -> int:
    """Set a reminder of MESSAGE, and print its id.

    Without MESSAGE, or with -, it is read from standard input. A time without an offset is this machine's local time.
    """

    def action(client: "Reflecto") -> int:
        given = [name for name, value in (("--at", at), ("--in", ahead)) if value is not None]
        if is_list or cancel is not None:
            if given or message is not None or key is not None or (is_list and cancel is not None):
                raise click.UsageError("--list and --cancel stand alone")
            return _list(client, as_json=as_json) if cancel is None else _cancel(client, cancel, as_json=as_json)
        if len(given) != 1:
            raise click.UsageError("give either --at or --in")
        if ahead is not None and not REMINDER_MIN_AHEAD_SECONDS <= ahead <= REMINDER_MAX_AHEAD_SECONDS:
            raise click.UsageError("--in must be 1m to 365d")  # the server's words would be about `at`
        when = unix_seconds(at, time.time()) if at is not None else timedelta(seconds=ahead or 0)
        text = read_text(message, token, "MESSAGE")
        made = client.remind(text, when, title=title, device=device, idempotency_key=key)
        if as_json:
            warnings = [{"code": each.code, "message": each.message} for each in made.warnings]
            put(json.dumps({"reminder_id": made.id, "fire_at": made.fire_at, "warnings": warnings}))
        else:
            put(made.id)
        tell(f"It will come at {local_time(made.fire_at)}.")
        return finish(made.warnings, selector=device)

    return Sender(url, token, config_file, retry_for, as_json).run(action)


def _list(client: "Reflecto", *, as_json: bool) -> int:
    reminders = client.reminders()
    if as_json:
        fields = [
            {
                "reminder_id": each.id,
                "message": each.message,
                "title": each.title,
                "fire_at": each.fire_at,
                "created_at": each.created_at,
            }
            for each in reminders
        ]
        put(json.dumps({"reminders": fields}))
    elif reminders:
        rows = [
            (local_time(each.fire_at), each.id, visible(each.title or ""), visible(each.message)) for each in reminders
        ]
        table(("TIME", "ID", "TITLE", "MESSAGE"), rows)
    else:
        tell("No reminder waits.")
    return 0


def _cancel(client: "Reflecto", reminder_id: str, *, as_json: bool) -> int:
    from reflecto.client.errors import NotFound

    try:
        client.cancel_reminder(reminder_id)
    except ValueError as error:
        raise click.UsageError(f"--cancel: {error}") from None
    except NotFound:
        raise NoSuchReminderError("no such reminder waits: it has come, was dropped, or is another token's") from None
    if as_json:
        put(json.dumps({"reminder_id": reminder_id, "cancelled": True}))
    tell("It will not come.")
    return 0
