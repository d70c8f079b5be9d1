"""What a server has promised by its 2xx replies, over all its lives, and what would break such a promise."""

import asyncio
import random
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import httpx

from tests.e2e.phones import Phone

OLDER_CHECKED: Final = 30  # of the questions of earlier lives, at each check

Ended = tuple[str, int | None]  # status and, if answered, the choice


class BrokenPromiseError(AssertionError):
    """The server has said something and later the contrary."""


def expect(promise: bool, *told: object) -> None:  # noqa: FBT001  an assertion that works outside pytest
    """Raise BrokenPromiseError unless the promise was kept."""
    if not promise:
        raise BrokenPromiseError(*told)


@dataclass
class Question:
    """One idempotency key and what its creates were answered with."""

    token: str
    phones: list[Phone]
    key: str
    text: str
    choices: list[str]
    id: str | None = None  # None: no reply has come yet
    times_created: int = 0

    @property
    def body(self) -> dict[str, Any]:
        """The body of its create."""
        return {
            "question": self.text,
            "choices": self.choices,
            "expires_in": 86_400,
            "idempotency_key": self.key,
        }


@dataclass
class Message:
    """One Idempotency-Key and what its sends were answered with."""

    token: str
    phones: list[Phone]
    key: str
    id: str | None = None  # None: no reply has come yet


@dataclass
class Inbox:
    """What one phone has read, and how far it has acknowledged."""

    phone: Phone
    seen: dict[int, tuple[str, str]] = field(default_factory=dict)  # seq to type and id
    handled: int = 0  # everything up to here was dealt with
    ack_sent: int = 0
    acked: int = 0

    def take(self, seq: int, entry: tuple[str, str]) -> None:
        """Note what the stream brought; a number never stands for two entries."""
        expect(self.seen.setdefault(seq, entry) == entry, "seq used twice", seq, self.seen[seq], entry)

    def check_backlog(self, backlog: list[tuple[int, tuple[str, str]]], ended: Collection[str]) -> None:
        """Compare a backlog read from the start with what was seen and acknowledged before.

        The prompts of questions that have `ended` leave without an ack.
        """
        numbers = [seq for seq, _ in backlog]
        expect(all(a < b for a, b in pairwise(numbers)), "seq does not rise", numbers)
        expect(not numbers or numbers[0] > self.acked, "acknowledged, and back again", self.acked, numbers[:3])
        for seq, entry in backlog:
            self.take(seq, entry)
        gone = {seq for seq in self.seen if seq > self.ack_sent} - set(numbers)
        lost = {seq for seq in gone if self.seen[seq][0] != "interaction" or self.seen[seq][1] not in ended}
        expect(not lost, "lost without an ack", self.ack_sent, sorted(lost))


class Ledger:
    """All promises."""

    def __init__(self, inboxes: list[Inbox]) -> None:
        self.inboxes = inboxes
        self.questions: list[Question] = []
        self.messages: list[Message] = []
        self.ended: dict[str, Ended] = {}
        self.live_tokens: set[str] = set()
        self.dead_tokens: set[str] = set()  # sender tokens revoked, and of devices unpaired
        self.used_codes: list[str] = []
        self.promises = 0
        self._checked = 0
        self._reached: tuple[int, asyncio.Event] | None = None

    def count(self) -> None:
        """Count a 2xx reply."""
        self.promises += 1
        if self._reached and self.promises >= self._reached[0]:
            self._reached[1].set()

    async def wait_for(self, more: int) -> None:
        """Return once `more` further replies have come."""
        reached = asyncio.Event()
        self._reached = (self.promises + more, reached)
        await reached.wait()

    def due_for_check(self, rng: random.Random) -> list[Question]:
        """Return the questions since the last time, and some of those before."""
        older, newer = self.questions[: self._checked], self.questions[self._checked :]
        self._checked = len(self.questions)
        return rng.sample(older, min(OLDER_CHECKED, len(older))) + newer

    def note_create(self, question: Question, reply: httpx.Response) -> None:
        """Note a create's reply: one id for a key for ever, and at most one 201."""
        if reply.status_code == 429:
            return
        expect(reply.status_code in {200, 201}, "create", reply.status_code, reply.text)
        self.count()
        identity = reply.json()["id"]
        expect(question.id in {None, identity}, "two questions for one key", question.id, identity)
        question.id = identity
        question.times_created += reply.status_code == 201
        expect(question.times_created <= 1, "two 201 for one key", question.key)

    def note_sent(self, message: Message, reply: httpx.Response) -> None:
        """Note a send's reply: one id for a key for ever."""
        expect(reply.status_code == 200, "send", reply.status_code, reply.text)
        self.count()
        identity = reply.json()["id"]
        expect(message.id in {None, identity}, "two messages for one key", message.key, message.id, identity)
        message.id = identity

    def note_end(self, interaction_id: str, status: str, choice_index: int | None) -> None:
        """Note how a question ended; that never changes."""
        end = (status, choice_index)
        expect(self.ended.setdefault(interaction_id, end) == end, "another end", interaction_id, self.ended, end)

    def note_state(self, reply: httpx.Response, question: Question) -> str:
        """Note a read's reply and return the status."""
        expect(reply.status_code == 200, "created, but unreadable", question, reply.status_code, reply.text)
        state = reply.json()
        expect((state["question"], state["choices"]) == (question.text, question.choices), "another text", state)
        if state["status"] != "pending":
            self.note_end(state["id"], state["status"], state["choice_index"])
        expect(state["status"] != "pending" or state["id"] not in self.ended, "ended, and pending again", state)
        return str(state["status"])

    def note_tap(self, interaction_id: str, choice_index: int, reply: httpx.Response) -> None:
        """Note the reply to an answer: it won, or it tells what did."""
        if reply.status_code == 200:
            self.count()
            self.note_end(interaction_id, "answered", choice_index)
            return
        expect(reply.status_code == 409, "answer", reply.status_code, reply.text)
        details = reply.json()["error"]["details"]
        self.note_end(interaction_id, details.get("status", "answered"), details.get("choice_index"))

    def check_messages(self) -> None:
        """Check that each phone got each message, and none that is no key's: that would be one sent twice."""
        for inbox in self.inboxes:
            got = {identity for kind, identity in inbox.seen.values() if kind == "notification"}
            sent = {message.id for message in self.messages if inbox.phone in message.phones}
            expect(got == sent, "messages lost or sent twice", got ^ sent)

    def check_prompts(self) -> None:
        """Check that each phone got the prompt of each question, and its withdrawal unless its own tap ended it.

        Of one that has ended the withdrawal is enough: its prompt has left the queue.
        """
        for inbox in self.inboxes:
            got = set(inbox.seen.values())
            for question in self.questions:
                if question.id is None or inbox.phone not in question.phones:
                    continue
                is_told = {("interaction", question.id), ("interaction.closed", question.id)} & got
                expect(bool(is_told), "never prompted", question)
                if self.ended.get(question.id, ("", None))[0] == "cancelled":
                    expect(("interaction.closed", question.id) in got, "never withdrawn", question)
