"""One question as its asker's terminal shows it: the live line, and how an answer or its absence is printed."""

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from reflecto.cli.exits import Exit, exit_code_of, report, say
from reflecto.cli.interruption import Interrupted
from reflecto.cli.output import failure_fields, put
from reflecto.cli.progress_line import aside
from reflecto.contract.visibility import visible
from reflecto.terminal.times import duration

if TYPE_CHECKING:
    from reflecto.client.errors import ReflectoError
    from reflecto.client.given import Given
    from reflecto.client.results import Answer, Question

_NO_ANSWER: Final[dict[str, Any]] = {
    "status": None,
    "choice": None,
    "choice_index": None,
    "id": None,
    "answered_by": None,
    "answered_at": None,
    "receipt_verified": False,
}


@dataclass
class Asking:
    """What is asked, with the key under which asking again finds it, and where it stands."""

    choices: tuple[str, ...] | None
    expires_in: int | None
    key: str
    given: "Given"
    text: str = ""
    question: "Question | None" = None
    trouble: "ReflectoError | None" = None
    withdrawal: str = "the question may still be on the phone"
    is_withdrawn: bool = False
    tether: int | None = None

    def note_trouble(self, error: "ReflectoError | None") -> None:
        """Take the error because of which the client is about to try again, or None once it got through."""
        self.trouble = error

    def line(self) -> str:
        """Return the live line: the time that is left, and why it tries again; empty before the question is asked."""
        question, trouble = self.question, self.trouble  # read once: another thread sets them
        left = f"{duration(question.deadline - time.monotonic())} left" if question else ""
        if trouble:
            return visible(" ".join(filter(None, ("Trying again,", f"{left}:" if left else "", str(trouble)))))
        number = f" and {question.confirm_number}" if question and question.confirm_number else ""
        return f"Waiting for the tap{number}, {left}. Ctrl-C withdraws the question." if left else ""

    def can_resume_after(self, error: Exception) -> bool:
        """Tell whether asking again with the same key may still get the answer."""
        from reflecto.client.errors import ReflectoError, ServerError, TooManyRequests, Unreachable

        if isinstance(error, ReflectoError) and error.idempotency_key:
            return True
        return self.question is not None and isinstance(error, (ServerError, TooManyRequests, Unreachable))


def show_number(question: "Question", *, as_json: bool) -> None:
    """Show the number that the person is to type on the phone, where there is one: to a person, and with --json."""
    if question.confirm_number is None:
        return
    if as_json:  # a line of its own, at once: the other one comes with the answer
        pending = {"status": "pending", "id": question.id, "confirm_number": question.confirm_number}
        put(json.dumps(pending))
        sys.stdout.flush()
    with aside():
        say(f"Type {question.confirm_number} on the phone to choose {visible(question.choices[0])}.")


def show_answer(answer: "Answer", *, as_json: bool) -> int:
    """Print the answer and return its exit code."""
    if as_json:
        device = answer.answered_by
        fields = {
            "status": "answered",
            "choice": answer.choice,
            "choice_index": answer.index,
            "id": answer.question_id,
            "answered_by": device and {"device_id": device.device_id, "label": device.label},
            "answered_at": answer.answered_at,
            "receipt_verified": answer.receipt is not None,  # the client returns none that does not verify
        }
        click.echo(json.dumps(fields | ({"comment": answer.comment} if answer.comment else {})))
    else:
        # The asker's own label, so a script gets it to the letter.
        click.echo(visible(answer.choice) if sys.stdout.isatty() else answer.choice)
        if answer.comment:
            say(f"Comment: {visible(answer.comment)}")
    return Exit.FIRST_CHOICE if answer.is_first_choice else Exit.OTHER_CHOICE


def show_failure(error: Exception, asking: Asking, *, as_json: bool) -> int:
    """Print why there is no answer and return the exit code."""
    from reflecto.client.errors import QuestionClosed

    can_resume = asking.can_resume_after(error)
    if not as_json:
        return report(error, f"; --key {asking.key} finds the question again" if can_resume else "")
    if isinstance(error, QuestionClosed):
        reason = getattr(error, "reason", None)
        ended = {"status": error.code, "id": error.question_id} | ({"reason": reason} if reason else {})
        click.echo(json.dumps(_NO_ANSWER | ended))
        return error.exit_code
    fields = failure_fields(error)
    if can_resume:
        fields["idempotency_key"] = asking.key
    click.echo(json.dumps({"error": fields}))
    return exit_code_of(error) or Exit.FAILED


def show_interruption(interrupted: Interrupted, asking: Asking, *, as_json: bool) -> int:
    """Say what became of the question and return the exit code. An answer that came too late is not printed as one."""
    message = f"interrupted; {visible(asking.withdrawal)}"
    if as_json:
        details = {"id": asking.question and asking.question.id, "withdrawn": asking.is_withdrawn}
        click.echo(json.dumps({"error": {"code": "interrupted", "message": message, "details": details}}))
    else:
        say(f"Error: {message}")
    return interrupted.exit_code
