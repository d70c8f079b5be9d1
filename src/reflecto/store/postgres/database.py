"""The database of the PostgreSQL store: four connections a process, each for one thing."""

import asyncio
import secrets

import asyncpg

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.batches import Batches
from reflecto.store.postgres.clock import ClockSetting, SetClock, read_clock
from reflecto.store.postgres.counters import PostgresCounters
from reflecto.store.postgres.durability import find_concerns, warn
from reflecto.store.postgres.listener import Listener
from reflecto.store.postgres.locking import Locking
from reflecto.store.postgres.news import NewsFeed
from reflecto.store.postgres.presence import PostgresPresence
from reflecto.store.postgres.primary import Primary
from reflecto.store.postgres.processes import Lease, Process
from reflecto.store.postgres.push_lines import PostgresPushLines
from reflecto.store.postgres.reads import Reads
from reflecto.store.postgres.schema import migrate
from reflecto.store.postgres.transactions import Transactions
from reflecto.store.postgres.writer import Writer


class Database:
    """`batches` for the verbs of every request, `transactions` for seldom ones, and `reads`.

    `news`, `presence`, `counters` and `push_lines` share the `listener`'s connection.
    """

    def __init__(self, primary: Primary, process: Process, bounds: QueueLimits, set_clock: SetClock) -> None:
        process_id = process.id
        self.process_id = process_id
        self.primary = primary
        self.locking = Locking(bounds, primary.numbers)
        self.work = StoreWork()
        self.listener = Listener(Writer(primary, f"{process_id}.listener", self.work).open)
        self.news = NewsFeed(process_id, self.listener.wake)
        self.batches = Batches(Writer(primary, f"{process_id}.batches", self.work), self.locking, self.news)
        seldom = Writer(primary, f"{process_id}.seldom", self.work)
        self.transactions = Transactions(seldom, self.locking, self.news)
        self._proof = Writer(primary, f"{process_id}.reads", self.work)
        self.reads = Reads(self._proof.open)
        self.lease = Lease(process)
        self.presence = PostgresPresence(self.lease, self.reads, self.listener.wake)
        self.counters = PostgresCounters(self.reads, self.listener.wake)
        self.push_lines = PostgresPushLines(process_id, self.listener.wake)
        # Who waits for it comes first; pushes come last, so that they know who is connected.
        for duty in (self.counters, self.news, self.presence, ClockSetting(set_clock), self.push_lines):
            self.listener.add(duty)

    @classmethod
    async def open(
        cls,
        address: str,
        bounds: QueueLimits,
        *,
        version: str = "",
        serves_at: str = "",
        set_clock: SetClock = lambda _now, _asked, _answered: None,
    ) -> "Database":
        """Connect, bring the schema up to date and start.

        `version` and `serves_at` are what the other processes see of this one. Without the latter it is a command, and
        says nothing of the database's settings: the server did. `set_clock` is told the time.
        Raises: StoreUnavailableError, with the reason; NewerDatabaseError; DatabaseAddressError.
        """
        primary = Primary(address)
        connection = await primary.connect_first()
        try:
            await migrate(connection)
            await read_clock(connection, set_clock)
            if serves_at:
                warn(await find_concerns(connection))
        except asyncpg.PostgresError as error:
            raise StoreUnavailableError(f"{primary.shown}: {error}") from None
        finally:
            connection.terminate()
        return cls(primary, Process(f"prc_{secrets.token_hex(16)}", version, serves_at), bounds, set_clock)

    def number_from(self, seq: int) -> None:
        """Give out numbers above `seq` only. No row is changed for that."""
        self.primary.numbers.begin_above(seq)

    async def close(self) -> None:
        """Commit what was accepted, then close the connections."""
        await asyncio.gather(self.batches.close(), self.transactions.close())
        await self.listener.close()
        self.primary.close()
        await self.reads.close()
