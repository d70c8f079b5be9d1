"""The load under which a database fails, and the ledger of what was promised. Source: scale.md, promise 12.

Each owner has one phone. Askers ask with a prompt to it, and have it answered by two taps at once; whatever is refused
with 503 is tried again, the same, as a client would. The phone reads its queue from the number it has.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from reflecto.core.model import Device, Interaction, Token
from reflecto.core.ports.store import OutcomeUnknownError, StoreUnavailableError
from reflecto.core.rules.outcomes import Creation, Verdict
from reflecto.store.postgres.store import PostgresStore
from reflecto.store.tables import DEVICES, TOKENS
from tests.builders import NOW, make_delivery, make_device, make_interaction, make_tap, make_token
from tests.postgres import connected

T = TypeVar("T")

ASKERS_PER_OWNER: Final = 4
PENDING: Final = 60.0  # seconds that anything may take before the test gives up
RETRY_SECONDS: Final = 0.05  # a client of the API would wait for five seconds


@dataclass
class Owner:
    """An owner with one phone and a token. `seen`: the prompts that the phone has got, with their numbers."""

    phone: Device
    token: Token
    seen: dict[bytes, list[int]] = field(default_factory=dict)
    cursor: int = 0


@dataclass
class Ledger:
    """What the store has said. `created`, `sent` and `answered` are what was acknowledged, with the tap that counts."""

    created: list[tuple[Owner, bytes, str]] = field(default_factory=list)
    sent: list[tuple[Owner, bytes]] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    grown: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def count(self) -> None:
        """Note that something was acknowledged."""
        self.acknowledged += 1
        async with self.grown:
            self.grown.notify_all()

    async def wait_for_more(self, count: int) -> None:
        """Wait until so many more promises were made."""
        until = self.acknowledged + count
        async with asyncio.timeout(PENDING), self.grown:
            await self.grown.wait_for(lambda: self.acknowledged >= until)


async def found_owners(address: str, count: int) -> list[Owner]:
    """Bring owners into being, each with a phone and a token."""
    async with connected(address) as connection:
        owners = []
        for place in range(count):
            owner_id = f"own_{connection.get_server_pid()}_{place}"
            owner = Owner(make_device(owner_id), make_token(owner_id))
            await connection.execute("INSERT INTO owners (id, created_at) VALUES ($1, $2)", owner_id, NOW)
            await connection.execute(DEVICES.numbered_insert, *DEVICES.row(owner.phone))
            await connection.execute(TOKENS.numbered_insert, *TOKENS.row(owner.token))
            owners.append(owner)
    return owners


class Load:
    """Puts load on a store until `stop`, and then compares what it kept with what it said."""

    def __init__(self, store: PostgresStore, owners: list[Owner]) -> None:
        self.ledger = Ledger()
        self._store = store
        self._owners = owners
        self._stopping = asyncio.Event()
        self._never = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        for owner in self._owners:
            for _ in range(ASKERS_PER_OWNER):
                self._tasks.append(asyncio.create_task(self._ask(owner)))
            self._tasks.append(asyncio.create_task(self._send(owner)))
            self._tasks.append(asyncio.create_task(self._be_phone(owner)))

    async def stop(self) -> None:
        """Let everybody finish what they do. An error that is no 503 comes out here."""
        self._stopping.set()
        async with asyncio.timeout(PENDING):
            await asyncio.gather(*self._tasks)

    async def check(self) -> None:
        """Hold what is stored against what was said: nothing lost, one winner, no prompt twice, numbers that rise."""
        for owner in self._owners:
            await self._read(owner)
            assert [seqs for seqs in owner.seen.values() if len(seqs) != 1] == []
        assert [blob for owner, blob in self.ledger.sent if blob not in owner.seen] == []
        for owner, blob, interaction_id in self.ledger.created:
            assert blob in owner.seen, "an acknowledged question's prompt is lost"
            found = await self._store.find_interaction(interaction_id, NOW)
            assert found is not None, "an acknowledged question is lost"
            if interaction_id in self.ledger.answered:
                assert found.tap is not None, "an acknowledged answer is lost"
                assert found.tap.choice_index == self.ledger.answered[interaction_id], "another answer has won"

    async def until_done(self, verb: Callable[[], Awaitable[T]], *, may_be_twice: bool = True) -> T:
        """Call until the store says what came of it. Raises: OutcomeUnknownError, if it may not happen twice."""
        while True:
            try:
                return await verb()
            except StoreUnavailableError as error:
                is_unknown = isinstance(error, OutcomeUnknownError)
                self.ledger.refusals["outcome_unknown" if is_unknown else "unavailable"] += 1
                if is_unknown and not may_be_twice:
                    raise
            await self._pause(RETRY_SECONDS)

    async def pause_shortly(self) -> bool:
        """Wait a little for something to happen; True while all of the load goes on."""
        await self._pause(RETRY_SECONDS)
        return not any(task.done() for task in self._tasks)

    async def _ask(self, owner: Owner) -> None:
        while not self._stopping.is_set():
            first = make_interaction(owner.token)
            blob = b"prompt " + first.repeat_mark
            asked = await self.until_done(partial(self._create, owner, first, blob))
            await self.ledger.count()
            self.ledger.created.append((owner, blob, asked.id))
            self.ledger.answered[asked.id] = await self._answer(owner, asked.id)
            await self.ledger.count()

    async def _answer(self, owner: Owner, interaction_id: str) -> int:
        """Let two taps race; return the index of the choice that both say has won."""

        async def tap(choice_index: int) -> int:
            tap = make_tap(owner.phone, choice_index)
            end = await self.until_done(lambda: self._store.record_answer_if_pending(interaction_id, tap, (), NOW))
            assert end is not None
            assert end.interaction.tap is not None
            won = end.interaction.tap.choice_index
            assert won == choice_index or end.verdict is not Verdict.ACCEPTED
            return won

        first, second = await asyncio.gather(tap(0), tap(1))
        assert first == second, "two taps have won"
        return first

    async def _create(self, owner: Owner, first: Interaction, blob: bytes) -> Interaction:
        """Ask as the API does: each try is a record of its own, known again by its mark."""
        new = make_interaction(owner.token, repeat_mark=first.repeat_mark, content_mark=first.content_mark)
        result = await self._store.create_interaction_once(new, [make_delivery(owner.phone, blob)], None, NOW)
        assert result.creation in {Creation.CREATED, Creation.REPEATED}
        assert result.interaction is not None
        return result.interaction

    async def _send(self, owner: Owner) -> None:
        """Send what the store knows no repeat of: again only where it says that nothing happened."""
        while not self._stopping.is_set():
            delivery = make_delivery(owner.phone)
            try:
                assert await self.until_done(partial(self._store.append_to_queues, [delivery]), may_be_twice=False)
            except OutcomeUnknownError:
                continue
            self.ledger.sent.append((owner, delivery.blob))
            await self.ledger.count()

    async def _be_phone(self, owner: Owner) -> None:
        while not self._stopping.is_set():
            await self._read(owner)
            if owner.cursor:
                assert await self.until_done(lambda: self._store.ack_queue(owner.phone.id, owner.cursor))
            await self._pause(RETRY_SECONDS)

    async def _read(self, owner: Owner) -> None:
        while entries := await self.until_done(lambda: self._store.read_queue(owner.phone.id, owner.cursor, 100, NOW)):
            for entry in entries:
                assert entry.seq > owner.cursor
                owner.cursor = entry.seq
                owner.seen.setdefault(entry.blob, []).append(entry.seq)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._never.wait()
        except TimeoutError:
            pass
