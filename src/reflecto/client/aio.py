"""The asynchronous client: the calls of `sync`, awaited. It performs the steps of `flows` and decides nothing else."""

import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar, Unpack

import anyio
import httpx

from reflecto.client import flows, outgoing, sending, sent_replies
from reflecto.client.async_network import AsyncNetwork
from reflecto.client.believing import Trust
from reflecto.client.errors import NotFound, ReflectoError
from reflecto.client.files import read_document, text_of
from reflecto.client.flows import Flow, Outcome, Pause
from reflecto.client.given import Given, check_number_is_shown
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

WITHDRAW_SECONDS: Final = 5.0  # how long a cancelled `ask` may take to withdraw its question

T = TypeVar("T")


class AsyncReflecto:
    """A connection to one Reflecto server with one sender token: `Reflecto`, with every call awaited.

        async with AsyncReflecto("https://reflecto.example", token) as reflecto:
            answer = await reflecto.ask("Deploy to production?")

    One client serves any number of tasks of one event loop. Each call does, takes and raises what the call of that
    name does in `Reflecto`. New is that a task can be cancelled:

    - `ask` withdraws its question first, for nobody is left to read the answer. That takes up to 5 seconds.
    - `wait` and `get` leave the question open; whoever has its id can wait again, or cancel it.
    - `create`, `cancel` and what sends may have arrived at the server, or not.

    Args: those of `Reflecto`, with an asynchronous `sleep`, and
        transport: what carries the requests, by default the network.

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
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._network = AsyncNetwork(url, token, transport, clock, connect_timeout)
        self.url = self._network.url
        self._rules = RetryRules(give_up_seconds=retry_for, jitter=jitter)
        self._trust = Trust(read_pins(signing_keys), is_test=is_test_token(token))
        self._on_trouble = on_trouble
        self._clock = clock
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"AsyncReflecto({self.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        await self._network.close()

    async def ask(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- a timeout of its own leaves the question open
        on_pending: Callable[[Question], None] | None = None,
        tether: int | None = None,
        **given: Unpack[Given],
    ) -> Answer:
        """Ask on the owner's phones and wait for the tap, as `Reflecto.ask`. Cancelled, it withdraws the question."""
        check_number_is_shown(given, on_pending)
        give_up_at = None if timeout is None else self._clock() + timeout
        draft = Draft.make(question, choices, expires_in, idempotency_key, tether, given)
        asked: Question | None = None
        try:
            asked = await self._create(draft, timeout)
            if on_pending is not None:
                on_pending(asked)
            return await self.wait(asked, None if give_up_at is None else max(0.0, give_up_at - self._clock()))
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(WITHDRAW_SECONDS, shield=True), suppress(ReflectoError):
                # Cancelled before the reply, nobody knows whether it was stored: the same key finds it.
                await self.cancel(asked or await self._create(draft, 0.0), 0.0)
            raise

    async def create(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- the same
        tether: int | None = None,
        **given: Unpack[Given],
    ) -> Question:
        """Ask without waiting, as `Reflecto.create`."""
        return await self._create(Draft.make(question, choices, expires_in, idempotency_key, tether, given), timeout)

    async def wait(
        self,
        asked: Question | str,
        timeout: float | None = None,  # noqa: ASYNC109 -- the same
    ) -> Answer:
        """Wait for the answer, as `Reflecto.wait`."""
        return await self._run(
            flows.wait(asked, now=self._clock(), timeout_seconds=timeout, rules=self._rules, trust=self._trust)
        )

    async def get(self, asked: Question | str) -> QuestionState:
        """Read where a question stands, as `Reflecto.get`."""
        return await self._run(flows.get(asked, now=self._clock(), rules=self._rules, trust=self._trust))

    async def cancel(
        self,
        asked: Question | str,
        timeout: float | None = None,  # noqa: ASYNC109 -- the same
    ) -> None:
        """Withdraw a question, as `Reflecto.cancel`."""
        question_id = asked.id if isinstance(asked, Question) else asked
        await self._run(flows.cancel(question_id, now=self._clock(), timeout_seconds=timeout, rules=self._rules))

    async def simulate(self, asked: Question | str, choice: str) -> Answer:
        """Tap on a question of a test token, as `Reflecto.simulate`."""
        question_id = asked.id if isinstance(asked, Question) else asked
        return await self._run(
            flows.simulate(question_id, choice, now=self._clock(), rules=self._rules, trust=self._trust)
        )

    async def send(
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
        """Send a notification, as `Reflecto.send`."""
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
        return await self._submit(request, sent_replies.read_sent)

    async def ring(
        self,
        duration: float | timedelta | None = None,
        message: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Sent:
        """Let every phone sound, as `Reflecto.ring`."""
        return await self._submit(outgoing.ring_request(duration, message, idempotency_key), sent_replies.read_sent)

    async def send_file(
        self,
        path: str | Path | None = None,
        *,
        filename: str | None = None,
        content: str | bytes | None = None,
        title: str | None = None,
        device: Devices | None = None,
        idempotency_key: str | None = None,
    ) -> SentFile:
        """Send a text file for the phone's downloads, as `Reflecto.send_file`."""
        if path is not None and content is None:
            document = await anyio.to_thread.run_sync(read_document, Path(path), filename)
        elif path is None and content is not None and filename is not None:
            document = (filename, text_of(content))
        else:
            raise TypeError("give either a path, or content and filename")
        request = outgoing.document_request(*document, title, device, idempotency_key)
        return await self._submit(request, sent_replies.read_sent_file)

    async def remind(
        self,
        message: str,
        at: datetime | timedelta | int | str,
        *,
        title: str | None = None,
        device: Devices | None = None,
        idempotency_key: str | None = None,
    ) -> ReminderSet:
        """Set a reminder, as `Reflecto.remind`."""
        if isinstance(at, timedelta):
            return await self._run(
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
        return await self._submit(request, sent_replies.read_reminder_set)

    async def reminders(self) -> tuple[Reminder, ...]:
        """Return this token's waiting reminders, as `Reflecto.reminders`."""
        return await self._fetch(outgoing.reminders_request(), sent_replies.read_reminders)

    async def cancel_reminder(self, reminder: Reminder | ReminderSet | str) -> None:
        """Drop a waiting reminder, as `Reflecto.cancel_reminder`."""
        reminder_id = reminder if isinstance(reminder, str) else reminder.id
        await self._run(sending.cancel_reminder(reminder_id, now=self._clock(), rules=self._rules))

    async def devices(self) -> tuple[DeviceStatus, ...]:
        """Return the owner's devices, as `Reflecto.devices`."""
        return await self._fetch(outgoing.devices_request(), sent_replies.read_devices)

    async def check(self) -> None:
        """Check that this is a Reflecto server which takes the token, as `Reflecto.check`."""
        with suppress(NotFound):
            await self.get(new_id("int"))

    async def _create(self, draft: Draft, timeout_seconds: float | None) -> Question:
        return await self._run(
            flows.create(draft, now=self._clock(), timeout_seconds=timeout_seconds, rules=self._rules)
        )

    async def _submit(self, request: HttpRequest, read: Callable[[HttpReply], T]) -> T:
        return await self._run(sending.submit(request, read, now=self._clock(), rules=self._rules))

    async def _fetch(self, request: HttpRequest, read: Callable[[HttpReply], T]) -> T:
        return await self._run(sending.fetch(request, read, now=self._clock(), rules=self._rules))

    async def _run(self, flow: Flow[T]) -> T:
        in_trouble = False
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    await self._sleep(step.seconds)
                    step = flow.send(Outcome(self._clock()))
                    continue
                step = flow.send(await self._network.perform(step))
                trouble = step.because if isinstance(step, Pause) else None
                if self._on_trouble is not None and (trouble is not None or in_trouble):
                    self._on_trouble(trouble)
                in_trouble = trouble is not None
        except StopIteration as done:
            result: T = done.value
            return result
