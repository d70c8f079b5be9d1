"""`reflecto phone`: this terminal as a phone that questions come to."""

import asyncio
import contextlib
import platform
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from reflecto.cli.exits import Exit

if TYPE_CHECKING:
    import httpx

    from reflecto.phone.console import Console
    from reflecto.phone.device import Phone
    from reflecto.phone.effects import Effect
    from reflecto.phone.state import Identity, PhoneState
    from reflecto.phone.state_file import StateFile

DEFAULT_URL: Final = "http://127.0.0.1:8787"  # where `reflecto serve` listens unless told otherwise


class Options(NamedTuple):
    """What was asked for on the command line."""

    invitation: str | None
    url: str
    label: str
    answer: str
    once: bool
    downloads: Path
    as_json: bool


@click.command("phone")
@click.argument("invitation", metavar="[CODE|LINK]", required=False)
@click.option(
    "--url",
    envvar="REFLECTO_URL",
    default=DEFAULT_URL,
    show_default=True,
    help="The server, where a link does not name it.",
)
@click.option("--label", help="What this phone is called; default this machine's name.")
@click.option("--state", type=click.Path(dir_okay=False, path_type=Path), help="The file with keys and open questions.")
@click.option("--answer", default="ask", metavar="ask|first|LABEL", help="Who answers: you, or a rule. Default ask.")
@click.option(
    "--downloads",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for documents; default the platform's downloads.",
)
@click.option("--once", is_flag=True, help="Exit after the first question has ended.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per event; no keys are read.")
def phone(
    *,
    invitation: str | None,
    url: str,
    label: str | None,
    state: Path | None,
    answer: str,
    downloads: Path | None,
    once: bool,
    as_json: bool,
) -> int:
    """Be a phone: show questions as they come, answer with a key.

    The first start needs the setup code or link that `reflecto serve` or `reflecto invite` prints.
    Keys: 1 to 4 answer the question in front, Tab or n goes to the next, q quits. Any key stops a ring on all devices;
    a acknowledges an emergency, any other key silences it here.
    """
    from reflecto.contract.limits import LABEL_MAX_CHARS
    from reflecto.phone.downloads import default_downloads_path
    from reflecto.phone.state_file import StateFile, default_state_path

    if not answer.strip():
        raise click.BadParameter("ask, first, or the label of a choice", param_hint="--answer")
    name = label or platform.node()[:LABEL_MAX_CHARS] or "Terminal"
    folder = (downloads or default_downloads_path()).absolute()
    with StateFile(state or default_state_path()) as store:
        return asyncio.run(_run(store, Options(invitation, url, name, answer, once, folder, as_json)))


async def _run(store: "StateFile", options: Options) -> int:
    import httpx

    from reflecto.phone.answering import read_rule
    from reflecto.phone.connection import Connection
    from reflecto.phone.device import Phone
    from reflecto.phone.downloads import Downloads

    state = store.load()
    for warning in store.warnings:
        click.echo(f"Warning: {warning}", err=True)
    rule = read_rule(options.answer)
    console = None if options.as_json else _make_console(takes_keys=rule is None)
    show = console.show if console else _print_json
    async with httpx.AsyncClient() as http:
        state, identity = await _enrol_if_needed(http, store, state, options, show)
        phone = Phone(
            store,
            state,
            Connection(http, identity),
            show,
            rule=rule,
            once=options.once,
            downloads=Downloads(options.downloads),
            may_show_tokens=options.as_json or sys.stdout.isatty(),
            refresh=console.refresh if console else lambda _state, _now: None,
        )
        return await _run_phone(phone, console, options)


async def _run_phone(phone: "Phone", console: "Console | None", options: Options) -> int:
    from reflecto.terminal.keys import key_presses

    signals: list[int] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(_stopped_by_signals(phone, signals))
        if console:
            stack.callback(console.close)
            if console.takes_keys:
                stack.enter_context(key_presses(sys.stdin, lambda chunk: _press(console, phone, chunk)))
        ending = await phone.run()
    if phone.state.unsent():
        click.echo("An answer still waits to be sent; it goes out when this phone runs again.", err=True)
    if ending == "revoked":
        return Exit.NOT_AUTHORISED
    if options.once and ending != "once":  # a script must not take this for a question's end
        return 128 + signals[0] if signals else Exit.FAILED
    return 0


def _press(console: "Console", phone: "Phone", chunk: bytes) -> None:
    from reflecto.phone import wishes
    from reflecto.phone.muting import MutedBy

    match console.press(chunk):
        case wishes.Acknowledge(emergency_id):
            phone.acknowledge(emergency_id)
        case wishes.Silence(ring_ids):
            phone.silence()
            phone.stop_rings(ring_ids)
        case wishes.TapOn(interaction_id, choice_index, number, comment):
            phone.tap(interaction_id, choice_index, number, comment)
        case wishes.Refuse(interaction_id):
            phone.refuse(interaction_id)
        case wishes.RefuseAll(token_id):
            phone.refuse_all(token_id)
        case wishes.Mute(token_id, source, until):
            phone.mute(MutedBy(token_id, source, until))
        case "quit":
            phone.stop()


async def _enrol_if_needed(
    http: "httpx.AsyncClient",
    store: "StateFile",
    state: "PhoneState",
    options: Options,
    show: "Callable[[Effect], None]",
) -> "tuple[PhoneState, Identity]":
    from reflecto.phone import identity as enrolment

    invitation = enrolment.read_invitation(options.invitation) if options.invitation else None
    if state.identity is not None and not (state.revoked and invitation):
        if invitation:
            click.echo(f"Already enrolled at {state.identity.url}; the code was not used.", err=True)
        return state, state.identity
    if invitation is None:
        raise enrolment.UnusableInvitationError(
            "this phone is not enrolled: pass the code or link that `reflecto serve` or `reflecto invite` prints"
        )
    url = invitation.url or enrolment.read_server_url(options.url)
    if enrolment.is_exposed(url):
        click.echo(f"Warning: {url} is not https; whoever is in between can read this phone's token.", err=True)
    try:
        identity, token = await enrolment.enroll(http, invitation, url, options.label)
    except enrolment.UnreachableError as error:
        hint = "" if invitation.url else "; a code without its link needs the right --url"
        raise enrolment.UnreachableError(f"{error}{hint}") from None
    state = enrolment.first_state(identity, token)
    store.save(state)
    show(enrolment.enrolled(identity, founded=token is not None))
    return state, identity


def _make_console(*, takes_keys: bool) -> "Console":
    from reflecto.phone.console import Console
    from reflecto.terminal.keys import can_read_keys
    from reflecto.terminal.live_line import LiveLine

    return Console(LiveLine(sys.stdout), takes_keys=takes_keys and can_read_keys(sys.stdin, sys.stdout))


def _print_json(effect: "Effect") -> None:
    from reflecto.phone.lines import as_json

    click.echo(as_json(effect))


@contextlib.contextmanager
def _stopped_by_signals(phone: "Phone", received: list[int]) -> Iterator[None]:
    """Let the signals that end a program end the phone in order."""
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        received.append(number)
        phone.stop()

    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
    with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C interrupts the loop instead
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in numbers:
                loop.remove_signal_handler(number)
