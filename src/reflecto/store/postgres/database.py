"""The database of the PostgreSQL store: four connections a process, each for one thing."""

import secrets
from typing import Final

import asyncpg

from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.batches import Batches
from reflecto.store.postgres.locking import Locking
from reflecto.store.postgres.news import NewsFeed
from reflecto.store.postgres.primary import Primary
from reflecto.store.postgres.reads import Reads
from reflecto.store.postgres.schema import migrate
from reflecto.store.postgres.transactions import Transactions
from reflecto.store.postgres.writer import Writer

EPOCH_SHIFT: Final = 43  # a number is epoch × 2^43 + milliseconds: safe in JavaScript for a thousand epochs


class Database:
    """`batches` for the verbs of every request, `transactions` for seldom ones, `reads`, and `news`."""

    def __init__(self, primary: Primary, process_id: str, bounds: QueueLimits) -> None:
        self.process_id = process_id
        self.primary = primary
        self.locking = Locking(bounds)
        self.work = StoreWork()
        self.news = NewsFeed(process_id)
        self.batches = Batches(Writer(primary, f"{process_id}.batches", self.work), self.locking, self.news.say)
        seldom = Writer(primary, f"{process_id}.seldom", self.work)
        self.transactions = Transactions(seldom, self.locking, self.news.say)
        self._proof = Writer(primary, f"{process_id}.reads", self.work)
        self.reads = Reads(self._proof.open)

    @classmethod
    async def open(cls, address: str, bounds: QueueLimits) -> "Database":
        """Connect, bring the schema up to date and start.

        Raises: StoreUnavailableError, with the reason; NewerDatabaseError; DatabaseAddressError.
        """
        primary = Primary(address)
        connection = await primary.connect_first()
        try:
            await migrate(connection)
        except asyncpg.PostgresError as error:
            raise StoreUnavailableError(f"{primary.shown}: {error}") from None
        finally:
            connection.terminate()
        return cls(primary, f"prc_{secrets.token_hex(16)}", bounds)

    def number_from(self, seq: int) -> None:
        """Give out numbers above `seq` only. No row is changed for that."""
        self.locking.floor = max(self.locking.floor, seq)

    async def close(self) -> None:
        """Commit what was accepted, then close the connections."""
        await self.batches.close()
        await self.transactions.close()
        await self.reads.close()
        self.primary.close()
