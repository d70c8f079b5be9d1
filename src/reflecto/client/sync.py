"""The blocking client: performs the steps of `flows` over the network, and decides nothing itself."""

import random
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from reflecto.client import flows, outgoing, sending, sent_replies
from reflecto.client.believing import Trust
from reflecto.client.errors import NotFound, ReflectoError
from reflecto.client.files import read_document, text_of
from reflecto.client.flows import Flow, Outcome, Pause
from reflecto.client.given import Given, check_number_is_shown
from reflecto.client.network import Network
from reflecto.client.outgoing import Actions, Devices
from reflecto.client.proofs import read_pins
from reflecto.client.protocol import REQUEST_TIMEOUT_SECONDS, Draft, HttpReply, HttpRequest, is_test_token
from reflecto.client.results import (
    Answer,
    DeviceStatus,
    Question,
    QuestionState,
    Reminder,
    ReminderSet,
    Sent,
    SentFile,
)
from reflecto.client.retry import GIVE_UP_SECONDS, RetryRules
from reflecto.contract.ids import new_id

T = TypeVar("T")


class Reflecto:
    """A connection to one Reflecto server with one sender token.

        with Reflecto("https://reflecto.example", token) as reflecto:
            answer = reflecto.ask("Deploy to production?")
            if answer.choice == "Approve":
                ...

    The token is sent to this server only: redirects are not followed. Certificates are checked against the usual
    authorities of the system, or those in the file that SSL_CERT_FILE names. One client may be shared by threads.

    Args:
        url: where the server is, http:// or https://; a path before the API's own is kept.
        token: a sender token, `rfk_live_…` or `rfk_test_…`.
        retry_for: seconds that a call keeps trying a server it cannot reach, where no question's end limits it;
            0 means one try.
        connect_timeout: seconds until a connection must have come about, by default 15.
        signing_keys: the phones' signing keys (Ed25519, base64). Answers that none of them signed then raise
            InvalidReceipt, so that not even the server could make one up.
        on_trouble: called with each failure that is about to be retried, and with None once the server replies again.
        clock, sleep, jitter: monotonic seconds, a pause in seconds, a random number in [0, 1).

    Raises: InvalidSettings.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        retry_for: float = GIVE_UP_SECONDS,
        connect_timeout: float = REQUEST_TIMEOUT_SECONDS,
        signing_keys: Collection[str] | None = None,
        on_trouble: Callable[[ReflectoError | None], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._network = Network(url, token, clock, connect_timeout)
        self.url = self._network.url
        self._rules = RetryRules(give_up_seconds=retry_for, jitter=jitter)
        self._trust = Trust(read_pins(signing_keys), is_test=is_test_token(token))
        self._on_trouble = on_trouble
        self._clock = clock
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"Reflecto({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        self._network.close()

    def ask(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        on_pending: Callable[[Question], None] | None = None,
        tether: int | None = None,
        **given: Unpack[Given],
    ) -> Answer:
        """Ask on the owner's phones and wait for the tap.

        A lost reply never prompts twice, and waiting goes on through server restarts and lost connections until the
        question's own end. Whatever is not an explicit tap raises.

        Args:
            question: 1-1000 characters.
            choices: 2-4 different labels of 1-100 characters; by default "Approve" and "Deny".
            expires_in: whole seconds, 60-86400; by default 600.
            idempotency_key: 1-128 characters; asking again with it finds the same question. By default a new one.
            timeout: seconds that the whole call may take. When they end, the question stays open.
            on_pending: called once the question is stored, before waiting. `confirm="number"` needs it, to show
                `Question.confirm_number`.
            tether: whole seconds, 5-300: the server ends the question, as cancelled, when nobody has waited for it so
                long. For a program that can be killed without a word.
            details, source, danger, confirm, comment: see `Given`. Asked with any of them, only an answer that is
                signed over all of them is taken.

        Raises:
            QuestionExpired, QuestionCancelled: it ended without an answer.
            AnswerTimeout: `timeout` ended first.
            IdempotencyMismatch: the key belongs to another question.
            ApiError: the server refused.
            Unreachable: the server could not be reached for `retry_for`, or until the question's end.
            BrokenContract: a reply made no sense. InvalidReceipt, one of these: the answer is not proven.

        Source: ask.md.
        """
        check_number_is_shown(given, on_pending)
        give_up_at = None if timeout is None else self._clock() + timeout
        asked = self.create(
            question,
            choices,
            expires_in=expires_in,
            idempotency_key=idempotency_key,
            timeout=timeout,
            tether=tether,
            **given,
        )
        if on_pending is not None:
            on_pending(asked)
        return self.wait(asked, None if give_up_at is None else max(0.0, give_up_at - self._clock()))

    def create(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        tether: int | None = None,
        **given: Unpack[Given],
    ) -> Question:
        """Ask without waiting. The arguments are those of `ask`.

        Raises: ApiError, IdempotencyMismatch, Unreachable, BrokenContract.
        """
        draft = Draft.make(question, choices, expires_in, idempotency_key, tether, given)
        return self._run(flows.create(draft, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    def wait(self, asked: Question | str, timeout: float | None = None) -> Answer:
        """Wait for the answer to a question, or to one of which only the id is known.

        Given an id alone, the answer cannot be compared with what was asked, and is not `verified`; give the `Question`
        where there is one.

        Raises: QuestionExpired, QuestionCancelled, AnswerTimeout, IdempotencyMismatch, ApiError, Unreachable,
        BrokenContract.
        """
        return self._run(
            flows.wait(asked, now=self._clock(), timeout_seconds=timeout, rules=self._rules, trust=self._trust)
        )

    def get(self, asked: Question | str) -> QuestionState:
        """Read where a question stands, without waiting; by its id alone an answer is not `verified`.

        Raises: NotFound 24 hours after its end, other ApiErrors, Unreachable, BrokenContract.
        """
        return self._run(flows.get(asked, now=self._clock(), rules=self._rules, trust=self._trust))

    def cancel(self, asked: Question | str, timeout: float | None = None) -> None:
        """Withdraw a question; it vanishes from the phones. `timeout`: seconds to keep trying, by default `retry_for`.

        Raises: AlreadyAnswered, QuestionExpired, NotFound, other ApiErrors, Unreachable, BrokenContract.
        """
        question_id = asked.id if isinstance(asked, Question) else asked
        return self._run(flows.cancel(question_id, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    def simulate(self, asked: Question | str, choice: str) -> Answer:
        """Tap `choice`, a label, on a question of a test token: no phone shows it, and nobody else can answer.

        Raises: PermissionDenied with a live token, InvalidRequest for a label that is none, AlreadyAnswered, NotFound,
        other ApiErrors, Unreachable, BrokenContract.
        """
        question_id = asked.id if isinstance(asked, Question) else asked
        return self._run(flows.simulate(question_id, choice, now=self._clock(), rules=self._rules, trust=self._trust))

    def send(
        self,
        message: str,
        *,
        title: str | None = None,
        priority: str | None = None,
        tags: Sequence[str] = (),
        url: str | None = None,
        url_title: str | None = None,
        actions: Actions = (),
        device: Devices | None = None,
        markdown: bool = False,
        ttl: float | timedelta | None = None,
        idempotency_key: str | None = None,
    ) -> Sent:
        """Send a notification. Returning means: durably in the queue of every device in `delivered_to`.

        Each call has a key, under which the server recognises a repeat: where a reply is lost it is sent again, for up
        to `retry_for`, and arrives once. A server older than these keys is asked first and not sent it twice; then, and
        where no reply ever comes, OutcomeUnknown leaves it to the caller whether twice is better than perhaps not at
        all.

        Args:
            message: 1-1500 bytes of UTF-8.
            title: 1-100 bytes.
            priority: "min", "low", "default", "high" or "urgent".
            tags: up to 5 of up to 32 bytes; what is beyond that is trimmed, with a warning.
            url: a page to open, http(s), up to 512 bytes.
            url_title: what to call it, up to 100 bytes.
            actions: up to 3 buttons: label to URL.
            device: "all", "phone", "desktop", a label or a device id, or several of them. By default all.
            markdown: render the message as Markdown.
            ttl: seconds it waits for an offline device, up to 3 days, which is the default; 0: only who is connected.
            idempotency_key: 1-128 characters of ASCII; sent again with it within a day, also by another program with
                this token, the same call sends nothing and returns what the first one did. By default a new one.

        Raises:
            InvalidKey: the key cannot be sent.
            OutcomeUnknown: it may have been sent, or not.
            Unreachable: no connection came about for `retry_for`.
            KeyReused: the key belongs to another call.
            ApiError: the server refused.
            BrokenContract: a reply made no sense.

        Source: send.md.
        """
        request = outgoing.send_request(
            message,
            title=title,
            priority=priority,
            tags=tags,
            url=url,
            url_title=url_title,
            actions=actions,
            device=device,
            markdown=markdown,
            ttl=ttl,
            key=idempotency_key,
        )
        return self._submit(request, sent_replies.read_sent)

    def ring(
        self,
        duration: float | timedelta | None = None,
        message: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Sent:
        """Let every phone sound for `duration` seconds, 5-120, by default 30. Key, raises: as `send`."""
        return self._submit(outgoing.ring_request(duration, message, idempotency_key), sent_replies.read_sent)

    def send_file(
        self,
        path: str | Path | None = None,
        *,
        filename: str | None = None,
        content: str | bytes | None = None,
        title: str | None = None,
        device: Devices | None = None,
        idempotency_key: str | None = None,
    ) -> SentFile:
        """Send a text file of up to 128 KiB for the phone's downloads: one at `path`, or `content` under `filename`.

        With `path`, `filename` may give it another name. The key is as for `send`. Raises: InvalidFile, OSError if it
        cannot be read, else as `send`.
        """
        if path is not None and content is None:
            document = read_document(Path(path), filename)
        elif path is None and content is not None and filename is not None:
            document = (filename, text_of(content))
        else:
            raise TypeError("give either a path, or content and filename")
        request = outgoing.document_request(*document, title, device, idempotency_key)
        return self._submit(request, sent_replies.read_sent_file)

    def remind(
        self,
        message: str,
        at: datetime | timedelta | int | str,
        *,
        title: str | None = None,
        device: Devices | None = None,
        idempotency_key: str | None = None,
    ) -> ReminderSet:
        """Set a reminder of 1-500 characters for 60 seconds to 365 days from now.

        `at` is a datetime with a time zone, a time from now, Unix seconds, or RFC 3339 with an offset. A time from
        now is counted on the server's clock, so a second call with the same `idempotency_key` means another moment and
        raises KeyReused. Raises: ValueError for a datetime without a time zone, else as `send`.
        """
        if isinstance(at, timedelta):
            return self._run(
                sending.remind_in(
                    message,
                    at,
                    title=title,
                    device=device,
                    key=idempotency_key,
                    local_now=time.time(),
                    now=self._clock(),
                    rules=self._rules,
                )
            )
        request = outgoing.remind_request(message, outgoing.moment(at), title, device, idempotency_key)
        return self._submit(request, sent_replies.read_reminder_set)

    def reminders(self) -> tuple[Reminder, ...]:
        """Return this token's waiting reminders, the next one first. Raises: ApiError, Unreachable, BrokenContract."""
        return self._fetch(outgoing.reminders_request(), sent_replies.read_reminders)

    def cancel_reminder(self, reminder: Reminder | ReminderSet | str) -> None:
        """Drop a waiting reminder, given or named by its id.

        Raises: NotFound if it has fired or there is none, ValueError for what is no id, else as `reminders`.
        """
        reminder_id = reminder if isinstance(reminder, str) else reminder.id
        return self._run(sending.cancel_reminder(reminder_id, now=self._clock(), rules=self._rules))

    def devices(self) -> tuple[DeviceStatus, ...]:
        """Return the owner's devices. Raises: ApiError, Unreachable, BrokenContract."""
        return self._fetch(outgoing.devices_request(), sent_replies.read_devices)

    def check(self) -> None:
        """Check that this is a Reflecto server which takes the token, by asking for a question that cannot exist.

        Raises: AuthenticationError, other ApiErrors, Unreachable, BrokenContract.
        """
        with suppress(NotFound):
            self.get(new_id("int"))

    def _submit(self, request: HttpRequest, read: Callable[[HttpReply], T]) -> T:
        return self._run(sending.submit(request, read, now=self._clock(), rules=self._rules))

    def _fetch(self, request: HttpRequest, read: Callable[[HttpReply], T]) -> T:
        return self._run(sending.fetch(request, read, now=self._clock(), rules=self._rules))

    def _run(self, flow: Flow[T]) -> T:
        in_trouble = False
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    self._sleep(step.seconds)
                    step = flow.send(Outcome(self._clock()))
                    continue
                step = flow.send(self._network.perform(step))
                trouble = step.because if isinstance(step, Pause) else None
                if self._on_trouble is not None and (trouble is not None or in_trouble):
                    self._on_trouble(trouble)
                in_trouble = trouble is not None
        except StopIteration as done:
            result: T = done.value
            return result
