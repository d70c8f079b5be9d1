"""What moves from one store to another: the tables, in an order in which each reference finds what it refers to."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

TABLES: Final = (
    "installation",
    "owners",
    "kept_replies",
    "devices",
    "setup_codes",
    "tokens",
    "interactions",
    "queue",
    "push_subscriptions",
    "pairings",
    "reminders",
    "reminder_deliveries",
    "emergencies",
    "emergency_tags",
    "emergency_deliveries",
    "monthly_counts",
)
EPOCH_SHIFT: Final = 43  # a number in a queue is above epoch × 2^43 + milliseconds at the start
EPOCH_FACT: Final = "epoch"  # where a store keeps it in a table of facts; it is raised by the move, and not compared
CHUNK_ROWS: Final = 500
CHUNK_BYTES: Final = 1024 * 1024  # about; a row may have 0.2 MB
_SUM_MODULUS: Final = 2**256

Row = Sequence[Any]


class Source(Protocol):
    """A store that is read as it was at one instant, with no server on it."""

    async def columns(self, table: str) -> set[str]:
        """Return the names of the table's columns; none where there is no such table."""

    def rows(self, table: str, columns: Sequence[str]) -> AsyncIterator[Row]:
        """Yield every row of the table, in any order, a few at a time in memory."""

    async def epoch(self) -> int:
        """Return how often the numbers of queues have begun anew above all before."""


class Target(Source, Protocol):
    """A store that is filled, and is another's copy or empty in the end."""

    async def write(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows."""

    async def begin_epoch(self, epoch: int) -> None:
        """Number what is queued from now on in this epoch, above everything before."""


@dataclass(slots=True)
class TableSum:
    """How many rows a table has, and a checksum of them in whatever order they come."""

    rows: int = 0
    checksum: int = 0

    def add(self, row: Row) -> None:
        """Take a row into the sum."""
        packed = msgspec.msgpack.encode([int(each) if isinstance(each, bool) else each for each in row])
        digest = hashlib.sha256(packed).digest()
        self.rows += 1
        self.checksum = (self.checksum + int.from_bytes(digest, "big")) % _SUM_MODULUS


async def moved_rows(source: Source, table: str, columns: Sequence[str]) -> AsyncIterator[Row]:
    """Yield the rows of a table that are the same in both stores.

    PostgreSQL keeps no NUL in a text, and old labels may have one: it is left out at both ends.
    """
    is_facts = table == "installation"
    async for row in source.rows(table, columns):
        if not is_facts or row[columns.index("name")] != EPOCH_FACT:
            yield [each.replace("\0", "") if isinstance(each, str) else each for each in row]


async def copy_table(source: Source, target: Target, table: str, columns: Sequence[str]) -> TableSum:
    """Copy a table in chunks and return the sum of what was read."""
    found, chunk, size = TableSum(), list[Row](), 0
    async for row in moved_rows(source, table, columns):
        found.add(row)
        chunk.append(row)
        size += sum(len(each) for each in row if isinstance(each, bytes))
        if len(chunk) >= CHUNK_ROWS or size >= CHUNK_BYTES:
            await target.write(table, columns, chunk)
            chunk, size = [], 0
    if chunk:
        await target.write(table, columns, chunk)
    return found


async def sum_table(store: Source, table: str, columns: Sequence[str]) -> TableSum:
    """Return the sum of a table as it is."""
    found = TableSum()
    async for row in moved_rows(store, table, columns):
        found.add(row)
    return found
