"""The running phone: feeds the rules with what arrives, saves, and does what the new state asks for.

The order is always: apply, tell, save, then talk to the server. Whatever a crash cuts off is done at the next start:
what was not saved was not acknowledged and comes again, what was saved is sent.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final, Literal

import msgspec

from reflecto.phone import effects, inbox, readers
from reflecto.phone.alarms import Acknowledged, Silenced
from reflecto.phone.answering import Rule
from reflecto.phone.backoff import SETTLED_SECONDS, Backoff
from reflecto.phone.connection import Connection, NoReplyError, RevokedError
from reflecto.phone.downloads import DownloadError, Downloads
from reflecto.phone.effects import Effect
from reflecto.phone.inbox import Event, Tapped, Tick
from reflecto.phone.keyring import Keyring
from reflecto.phone.lifecycle import Step, Verdict
from reflecto.phone.muting import MutedBy
from reflecto.phone.state import FEATURES, Identity, PhoneState
from reflecto.phone.state_file import StateFile

TICK_SECONDS: Final = 1.0
CLOCK_SLACK_SECONDS: Final = 2.0  # the server's date has whole seconds, and the reply took a moment
FAREWELL_SECONDS: Final = 2.0  # for the last acknowledgement

Ending = Literal["quit", "once", "revoked"]


class Phone:
    """One enrolled device.

    `show` is told every effect. `refresh(state, now)` is called after every change and at least once a second.
    Documents go to `downloads`; without it they stay in the state file.

    `clock` is Unix seconds, `monotonic` seconds of a clock that never jumps; both and `pause` are a test's to replace.
    """

    def __init__(
        self,
        store: StateFile,
        state: PhoneState,
        connection: Connection,
        show: Callable[[Effect], None],
        *,
        rule: Rule | None = None,
        once: bool = False,
        may_show_tokens: bool = False,
        downloads: Downloads | None = None,
        refresh: Callable[[PhoneState, float], None] = lambda _state, _now: None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if state.identity is None:
            raise ValueError("not enrolled")
        self.state = state
        self.identity: Identity = state.identity
        self._keys = Keyring(state.identity)
        self._store, self._connection, self._show, self._refresh = store, connection, show, refresh
        self._rule, self._once, self._may_show_tokens = rule, once, may_show_tokens
        self._downloads = downloads
        self._unsaved: set[str] = set()  # documents that could not be saved; the next start tries again
        self._clock, self._monotonic, self._pause = clock, monotonic, pause
        self._clock_ahead_seconds = 0.0
        self._acknowledged = 0
        self._work = asyncio.Event()  # something to send
        self._errands: list[tuple[str, Callable[[], Awaitable[str | None]]]] = []  # each returns why it was refused
        self._up = asyncio.Event()  # the stream has just come up
        self._is_up = False
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    async def run(self) -> Ending:
        """Run until `stop`, a revocation, or with `once` the first question's end.

        Raises: StateError if the state cannot be saved; whatever `show` raises.
        """
        once, self._once = self._once, False  # what ended while this phone was off is not the first to end
        self._take(inbox.resume(self.state, self.now()))
        self._once = once
        try:
            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(job()) for job in (self._receive, self._send, self._watch_time)]
                ending = await self._ending
                for worker in workers:
                    worker.cancel()
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        if ending != "revoked" and self._is_up:
            await self._say_farewell()
        return ending

    def now(self) -> float:
        """Return the Unix time by the server's clock, as far as it is known: deadlines are the server's."""
        return self._clock() - self._clock_ahead_seconds

    def tap(self, interaction_id: str, choice_index: int, number: str = "", comment: str = "") -> None:
        """Answer an open question; the answer is stored first, then sent until the server gives its verdict."""
        question = self.state.question(interaction_id)
        if question is not None and question.phase == "open":
            signed = self._keys.sign(question, choice_index, int(self._clock()), number=number, comment=comment)
            self.apply(Tapped(question.id, signed))

    def refuse(self, interaction_id: str) -> None:
        """End a question without an answer; it is tried for as long as this phone runs, and so are the next two."""
        self._do("Refusing", partial(self._refuse, interaction_id))

    def refuse_all(self, token_id: str) -> None:
        """End all open questions of a token."""
        self._do("Refusing", partial(self._refuse_all, token_id))

    def mute(self, muted: MutedBy) -> None:
        """Mute a token, or let it ask again, here and on the owner's other devices."""
        self.apply(muted)
        self._do("Muting", partial(self._connection.mute, muted.token_id, muted.until))

    def acknowledge(self, emergency_id: str) -> None:
        """End an emergency everywhere; that is stored before it is sent, as an answer is."""
        self.apply(Acknowledged(emergency_id))

    def silence(self) -> None:
        """Stop ringing for emergencies on this phone."""
        self.apply(Silenced())

    def stop_rings(self, ring_ids: Iterable[str]) -> None:
        """Silence these rings on the owner's other devices; it is tried for as long as this phone runs."""
        for ring_id in ring_ids:
            self._do("Stopping a ring", partial(self._connection.stop_ring, ring_id))

    async def _refuse(self, interaction_id: str) -> str | None:
        refused = await self._connection.dismiss(interaction_id)
        if refused is None:  # the server tells only the other phones
            self.apply(Verdict(interaction_id, "cancelled", reason="dismissed"))
        return refused

    async def _refuse_all(self, token_id: str) -> str | None:
        refused = await self._connection.dismiss_all(token_id)
        if refused is None:  # also where an earlier try has ended them and its reply was lost: repeats change nothing
            for question in self.state.open_questions():
                if question.token_id == token_id:
                    self.refuse(question.id)
        return refused

    def _do(self, what: str, errand: Callable[[], Awaitable[str | None]]) -> None:
        self._errands.append((what, errand))
        self._work.set()

    def apply(self, event: Event) -> None:
        """Put one event through the rules."""
        self._take(inbox.advance(self.state, event, self.now()))

    def stop(self, ending: Ending = "quit") -> None:
        """Make `run` return."""
        if not self._ending.done():
            self._ending.set_result(ending)

    def _take(self, step: Step) -> None:
        told = step.effects
        after = step.state
        if self._may_show_tokens and after.tokens:
            released = inbox.release_tokens(after)
            after = released.state
            told = tuple(effect for effect in told if not isinstance(effect, effects.TokenHeld)) + released.effects
        changed = after is not self.state
        self.state = after
        for effect in told:
            self._show(effect)
        if changed:
            self._store.save(after)
            self._work.set()
        self._refresh(after, self.now())
        for effect in told:
            if isinstance(effect, effects.Opened):
                self._follow_rule(effect)
            elif isinstance(effect, effects.Ended) and self._once:
                self.stop("once")
        self._save_documents()

    def _save_documents(self) -> None:
        """Save the documents that wait into the downloads folder. The state file has them, so no crash loses one."""
        for held in self.state.documents:
            if held.id in self._unsaved:
                continue
            try:
                if self._downloads is None:
                    raise DownloadError("there is no downloads folder")
                path = self._downloads.save(held.filename, held.content)
            except DownloadError as error:
                self._unsaved.add(held.id)
                self._show(readers.unsaved(held, str(error), kept=True))
            else:
                self._take(readers.document_saved(self.state, held, str(path)))
                return  # the call above has seen to the rest

    def _follow_rule(self, opened: effects.Opened) -> None:
        if self._rule is None:
            return
        choice_index = self._rule.choose(opened.choices)
        if choice_index == 0 and opened.confirm == "number":
            self._show(effects.LeftOpen(id=opened.id, wanted=opened.choices[0], needs_number=True))
        elif choice_index is not None:
            self.tap(opened.id, choice_index)
        else:
            self._show(effects.LeftOpen(id=opened.id, wanted=self._rule.label or ""))

    async def _receive(self) -> None:
        backoff = Backoff()
        last_reason = ""
        while True:
            since = self._monotonic()
            try:
                async with self._connection.open_stream(self.state.cursor) as stream:
                    self._come_up(stream.server_time)
                    last_reason = ""
                    async for entry in stream.entries:
                        backoff.reset()
                        self.apply(self._keys.unseal(entry))
                failure = NoReplyError("the server ended the stream")
            except NoReplyError as error:
                failure = error
            except RevokedError:
                self._be_revoked()
                return
            if self._is_up and self._monotonic() - since >= SETTLED_SECONDS:
                backoff.reset()
            self._is_up = False
            delay = backoff.next_delay(failure.retry_after_seconds)
            if failure.reason != last_reason:
                self._show(effects.Disconnected(reason=failure.reason, retry_in_seconds=round(delay, 3)))
                last_reason = failure.reason
            await self._pause(delay)

    def _come_up(self, server_time: float | None) -> None:
        ahead = self._clock() - server_time if server_time is not None else 0.0
        self._clock_ahead_seconds = ahead if abs(ahead) > CLOCK_SLACK_SECONDS else 0.0
        self._is_up = True
        self._up.set()
        self._work.set()
        self._show(effects.Connected(url=self.identity.url))

    async def _send(self) -> None:
        backoff = Backoff()
        while True:
            await self._work.wait()
            self._work.clear()
            self._up.clear()
            try:
                await self._send_what_waits()
                backoff.reset()
            except NoReplyError as error:
                self._work.set()
                await self._wait_for_stream(backoff.next_delay(error.retry_after_seconds))
            except RevokedError:
                self._be_revoked()
                return

    async def _send_what_waits(self) -> None:
        while (question := self.state.unsent()) and question.answer:
            self.apply(await self._connection.send_answer(question.id, question.answer))
        while emergency := self.state.unsent_acknowledgement():
            self.apply(await self._connection.acknowledge_emergency(emergency))
        while self._errands:
            what, errand = self._errands[0]
            refused = await errand()
            del self._errands[0]
            if refused is not None:
                self._show(effects.Refused(what=what, detail=refused))
        if self._acknowledged != self.state.cursor:
            cursor = self.state.cursor
            await self._connection.acknowledge(cursor)
            self._acknowledged = cursor
        if self.state.features != FEATURES:  # enrolled by another version
            await self._connection.report_features(FEATURES)
            self._take(Step(msgspec.structs.replace(self.state, features=FEATURES)))

    async def _wait_for_stream(self, seconds: float) -> None:
        """Wait, but no longer than until the stream is back: then the server is there again."""
        waits = [asyncio.ensure_future(self._up.wait()), asyncio.ensure_future(self._pause(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _watch_time(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS - self.now() % TICK_SECONDS)  # deadlines are whole seconds
            self.apply(Tick())

    def _be_revoked(self) -> None:
        self.state = msgspec.structs.replace(self.state, revoked=True)
        self._store.save(self.state)
        self._show(effects.Revoked(url=self.identity.url))
        self.stop("revoked")

    async def _say_farewell(self) -> None:
        try:
            async with asyncio.timeout(FAREWELL_SECONDS):
                if self._acknowledged != self.state.cursor:
                    await self._connection.acknowledge(self.state.cursor)
        except (NoReplyError, RevokedError, TimeoutError):
            pass  # it stays in the queue until it expires; the cursor is stored here
