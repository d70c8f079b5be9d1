"""The blocking client: performs the steps of `flows` over httpx, and decides nothing itself."""

import random
import ssl
import time
import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

import httpx

from reflecto.client import flows
from reflecto.client.errors import InvalidSettings, NotFound, ReflectoError, Unreachable
from reflecto.client.flows import Flow, Outcome, Pause
from reflecto.client.protocol import REPLY_MAX_BYTES, Draft, HttpReply, HttpRequest, base_url, common_headers
from reflecto.client.results import Answer, Question, QuestionState
from reflecto.client.retry import GIVE_UP_SECONDS, RetryRules, is_foreign
from reflecto.contract.ids import new_id

T = TypeVar("T")


class Reflecto:
    """A connection to one Reflecto server with one sender token.

        with Reflecto("https://reflecto.example", token) as reflecto:
            answer = reflecto.ask("Deploy to production?")
            if answer.choice == "Approve":
                ...

    The token is sent to this server only: redirects are not followed. Certificates are checked against the usual
    authorities, or those in the file that SSL_CERT_FILE names. One client may be shared by threads.

    Args:
        url: where the server is, http:// or https://; a path before the API's own is kept.
        token: a sender token, `rfk_live_…` or `rfk_test_…`.
        retry_for: seconds that a call keeps trying a server it cannot reach, where no question's end limits it;
            0 means one try.
        on_trouble: called with each failure that is about to be retried, and with None once the server replies again.
        transport: what carries the requests, by default the network.
        clock, sleep, jitter: monotonic seconds, a pause in seconds, a random number in [0, 1).

    Raises: InvalidSettings.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        retry_for: float = GIVE_UP_SECONDS,
        on_trouble: Callable[[ReflectoError | None], None] | None = None,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.url = base_url(url)
        self._rules = RetryRules(give_up_seconds=retry_for, jitter=jitter)
        self._on_trouble = on_trouble
        self._clock = clock
        self._sleep = sleep
        headers = common_headers(token)
        try:
            self._http = httpx.Client(base_url=self.url, headers=headers, transport=transport)
        except (httpx.InvalidURL, ImportError, OSError, ValueError) as error:
            # Beside the URL: proxies and certificates that the environment names.
            raise InvalidSettings(f"the connection cannot be set up: {error}") from None

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
        self._http.close()

    def ask(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        on_pending: Callable[[Question], None] | None = None,
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
            on_pending: called once the question is stored, before waiting.

        Raises:
            QuestionExpired, QuestionCancelled: it ended without an answer.
            AnswerTimeout: `timeout` ended first.
            IdempotencyMismatch: the key belongs to another question.
            ApiError: the server refused.
            Unreachable: the server could not be reached for `retry_for`, or until the question's end.
            BrokenContract: a reply made no sense.

        Source: ask.md.
        """
        give_up_at = None if timeout is None else self._clock() + timeout
        asked = self.create(question, choices, expires_in=expires_in, idempotency_key=idempotency_key, timeout=timeout)
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
    ) -> Question:
        """Ask without waiting. The arguments are those of `ask`.

        Raises: ApiError, IdempotencyMismatch, Unreachable, BrokenContract.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        draft = Draft.make(question, choices, expires_in, key)
        return self._run(flows.create(draft, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    def wait(self, asked: Question | str, timeout: float | None = None) -> Answer:
        """Wait for the answer to a question, or to one of which only the id is known.

        Given an id alone, the answer cannot be compared with what was asked; give the `Question` where there is one.

        Raises: QuestionExpired, QuestionCancelled, AnswerTimeout, IdempotencyMismatch, ApiError, Unreachable,
        BrokenContract.
        """
        return self._run(flows.wait(asked, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    def get(self, question_id: str) -> QuestionState:
        """Read where a question stands, without waiting.

        Raises: NotFound 24 hours after its end, other ApiErrors, Unreachable, BrokenContract.
        """
        return self._run(flows.get(question_id, now=self._clock(), rules=self._rules))

    def cancel(self, asked: Question | str, timeout: float | None = None) -> None:
        """Withdraw a question; it vanishes from the phones. `timeout`: seconds to keep trying, by default `retry_for`.

        Raises: AlreadyAnswered, QuestionExpired, NotFound, other ApiErrors, Unreachable, BrokenContract.
        """
        question_id = asked.id if isinstance(asked, Question) else asked
        return self._run(flows.cancel(question_id, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    def check(self) -> None:
        """Check that this is a Reflecto server which takes the token, by asking for a question that cannot exist.

        Raises: AuthenticationError, other ApiErrors, Unreachable, BrokenContract.
        """
        try:
            self.get(new_id("int"))
        except NotFound as error:
            if is_foreign(error):
                raise

    def _run(self, flow: Flow[T]) -> T:
        in_trouble = False
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    self._sleep(step.seconds)
                    step = flow.send(Outcome(self._clock()))
                    continue
                step = flow.send(self._perform(step))
                trouble = step.because if isinstance(step, Pause) else None
                if self._on_trouble is not None and (trouble is not None or in_trouble):
                    self._on_trouble(trouble)
                in_trouble = trouble is not None
        except StopIteration as done:
            result: T = done.value
            return result

    def _perform(self, request: HttpRequest) -> Outcome:
        headers = {} if request.body is None else {"Content-Type": "application/json"}
        try:
            with self._http.stream(
                request.method, request.path, content=request.body, headers=headers, timeout=request.timeout_seconds
            ) as response:
                body = self._read_bounded(response, self._clock() + request.timeout_seconds)
                reply = HttpReply(response.status_code, dict(response.headers), body)
        except (httpx.HTTPError, UnicodeError) as error:  # a host name that cannot be encoded is a UnicodeError
            return Outcome(self._clock(), failure=_unreachable(self.url, error))
        return Outcome(self._clock(), reply)

    def _read_bounded(self, response: httpx.Response, until: float) -> bytes:
        """Return the body, or its first bytes if it is longer than any reply of the contract."""
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > REPLY_MAX_BYTES:
                break
            if self._clock() > until:
                raise httpx.ReadTimeout("the reply does not end")
        return bytes(body[:REPLY_MAX_BYTES])


def _unreachable(url: str, error: Exception) -> Unreachable:
    reason = str(error) or type(error).__name__
    never_sent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, UnicodeError)
    final = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError)
    return Unreachable(
        f"cannot reach {url}: {reason}",
        may_have_arrived=not isinstance(error, never_sent),
        passing=not isinstance(error, final) and not _is_tls_refusal(error),
    )


def _is_tls_refusal(error: BaseException | None) -> bool:
    """Tell whether the other end is not trusted, or does not speak TLS at all: waiting mends neither."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
            return True
        error = error.__cause__ or error.__context__
    return False
