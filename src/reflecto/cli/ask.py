"""`reflecto ask`: one question, one tap, one exit code."""

import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reflecto.cli.connection import connection_options, find_connection, warn_if_exposed
from reflecto.cli.interruption import Interrupted, signals_interrupt
from reflecto.cli.progress_line import ProgressLine
from reflecto.cli.question_fields import QuestionFields, question_field_options
from reflecto.cli.question_view import Asking, show_answer, show_failure, show_interruption, show_number
from reflecto.cli.streams import read_standard_input
from reflecto.cli.times import duration_seconds

if TYPE_CHECKING:
    from reflecto.client.results import Answer, Question
    from reflecto.client.sync import Reflecto

_QUESTION_READ_CHARS: Final = 10_000  # of standard input, which might not end; the server refuses above 1000
_WITHDRAW_SECONDS: Final = 5.0  # somebody pressed Ctrl-C and waits

EXAMPLES: Final = """\b
Examples:
  reflecto ask "Deploy to production?" && ./deploy.sh
  reflecto ask "PR 482 is green" -c Merge -c Wait -c Close
  echo "Restart the database?" | reflecto ask - --expires-in 1h30m --json
  cat change.diff | reflecto ask "Merge this?" --diff - --comment
  reflecto ask "Drop table users?" --detail-file drop.sql --danger high --confirm number
"""
EXIT_CODES: Final = """\b
Exit codes:
  0  the first choice was tapped     5  the server cannot be reached
  1  another choice was tapped       6  the token is not valid
  2  bad usage or bad input          7  refused: no phone, a limit, not allowed
  3  expired without an answer       8  the key belongs to another question
  4  withdrawn or refused            9  anything else
  11 no phone is proven to have answered this question
  129, 130, 143  stopped by SIGHUP, Ctrl-C, SIGTERM; the question is withdrawn
"""


@click.command(epilog=f"{EXAMPLES}\n{EXIT_CODES}")
@click.argument("question")
@click.option(
    "-c", "--choice", "choices", multiple=True, metavar="LABEL", help="2 to 4 of them.  [default: Approve, Deny]"
)
@click.option(
    "--expires-in",
    type=duration_seconds,
    metavar="DURATION",
    help="60s to 1d, such as 90, 90s, 10m or 1h30m.  [default: 10m]",
)
@click.option(
    "--tether",
    type=duration_seconds,
    metavar="DURATION",
    help="5s to 5m: the question ends by itself when this command has not waited for it so long, since it was killed.",
)
@click.option("--key", help="Idempotency key: asking again with it finds the same question.  [default: a new one]")
@click.option(
    "--retry-for",
    type=duration_seconds,
    metavar="DURATION",
    default="60s",
    show_default=True,
    help="How long to try a server that cannot be reached. Once it has the question, waiting goes on to its end.",
)
@question_field_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the label.")
@connection_options
def ask(
    question: str,
    choices: tuple[str, ...],
    expires_in: int | None,
    tether: int | None,
    key: str | None,
    retry_for: int,
    url: str | None,
    token: str | None,
    config_file: Path | None,
    *,
    as_json: bool,
    **fields: Any,
) -> int:
    """Ask QUESTION on the owner's phones, wait for the tap and print the chosen label.

    QUESTION may be - for standard input. Nothing but a tap is an answer: whatever else happens prints no label
    and exits with 2 or more.
    """
    from reflecto.client.errors import ReflectoError
    from reflecto.client.sync import Reflecto

    asking = Asking(choices or None, expires_in, str(uuid.uuid4()) if key is None else key, {}, tether=tether)
    try:
        extras = QuestionFields(**fields)
        if [question == "-", token == "-", extras.reads_standard_input].count(True) > 1:
            raise click.UsageError("only one of QUESTION, --token and a file can come from standard input")
        connection = find_connection(url, token, config_file)
        asking.text = _read_question(question)
        asking.given = extras.read()
        warn_if_exposed(connection.url)
        with Reflecto(
            connection.url, connection.token, retry_for=retry_for, on_trouble=asking.note_trouble
        ) as reflecto:
            answer = _ask(reflecto, asking, as_json=as_json)
    except Interrupted as interrupted:
        return show_interruption(interrupted, asking, as_json=as_json)
    except (ReflectoError, click.UsageError) as error:
        return show_failure(error, asking, as_json=as_json)
    return show_answer(answer, as_json=as_json)


def _read_question(argument: str) -> str:
    if argument != "-":
        return argument
    return read_standard_input(_QUESTION_READ_CHARS, "the question").rstrip("\r\n")


def _ask(reflecto: "Reflecto", asking: Asking, *, as_json: bool) -> "Answer":
    with signals_interrupt(), ProgressLine(sys.stderr, asking.line) as line:
        try:
            asking.question = _create(reflecto, asking)
            show_number(asking.question, as_json=as_json)
            return reflecto.wait(asking.question)
        except Interrupted:
            line.clear()
            _withdraw(reflecto, asking)
            raise


def _create(reflecto: "Reflecto", asking: Asking, timeout: float | None = None) -> "Question":
    return reflecto.create(
        asking.text,
        asking.choices,
        expires_in=asking.expires_in,
        idempotency_key=asking.key,
        timeout=timeout,
        tether=asking.tether,
        **asking.given,
    )


def _withdraw(reflecto: "Reflecto", asking: Asking) -> None:
    """Withdraw the question and note what became of it.

    Interrupted before the server's reply, nobody knows whether the question is on the phone: asking again with the
    same key finds it.
    """
    from reflecto.client.errors import AlreadyAnswered, QuestionClosed, ReflectoError

    try:
        asking.question = asking.question or _create(reflecto, asking, timeout=_WITHDRAW_SECONDS)
        reflecto.cancel(asking.question, timeout=_WITHDRAW_SECONDS)
    except AlreadyAnswered as error:
        asking.withdrawal = (
            f"too late to withdraw the question: {error.choice or 'a choice'} was tapped, and is ignored"
        )
    except QuestionClosed:
        asking.withdrawal = "the question had already expired"
    except ReflectoError as error:
        asking.withdrawal = f"the question could not be withdrawn: {error}"
    else:
        asking.is_withdrawn = True
        asking.withdrawal = "the question was withdrawn"
