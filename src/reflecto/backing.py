"""What a server stands on, by one setting: SQLite in its data folder, or PostgreSQL for several processes.

asyncpg is imported only for the second.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

from reflecto.config import Settings
from reflecto.core.clock import Clock, StoreClock, SystemClock
from reflecto.core.ports.call_places import CallPlaces
from reflecto.core.ports.counting import Counters
from reflecto.core.ports.presence import Presence
from reflecto.core.ports.push_lines import PushLines
from reflecto.core.ports.store import Store
from reflecto.core.ports.unread import UnreadQuestions
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.memory.call_places import MemoryCallPlaces
from reflecto.store.memory.counters import MemoryCounters
from reflecto.store.memory.presence import MemoryPresence
from reflecto.store.memory.push_lines import MemoryPushLines
from reflecto.store.sqlite.store import SqliteStore
from reflecto.version import version


class StoreAddressError(Exception):
    """The setting `store` names no database; the message says what it has to look like."""

    exit_code: ClassVar[int] = 2  # what the commands exit with


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """The core's ports, and what ties several processes of one server together.

    `cancel_elsewhere` tells the others of calls that nobody wants any more; `when_lost` sets what to do once the others
    take this process's streams for gone, `when_gone` what to do once another process is gone for good. `unread` has the
    agents' questions whose results were lost; None: this is the only process, and knows its own.
    """

    store: Store
    presence: Presence
    counters: Counters
    push_lines: PushLines
    call_places: CallPlaces
    clock: Clock
    unread: UnreadQuestions | None = None
    is_shared: bool = False
    cancel_elsewhere: Callable[[Collection[str]], None] = lambda _: None
    when_lost: Callable[[Callable[[], None]], None] = lambda _: None
    when_gone: Callable[[Callable[[], None]], None] = lambda _: None


def backing_in_memory(store: Store, clock: Clock) -> Backing:
    """Return the backing of the only process of a server, or of one that hears of others by SQLite alone."""
    return Backing(
        store=store,
        presence=MemoryPresence(),
        counters=MemoryCounters(store),
        push_lines=MemoryPushLines(),
        call_places=MemoryCallPlaces(),
        clock=clock,
    )


async def open_backing(
    settings: Settings, clock: Clock | None = None, *, is_server: bool = True, serves_at: str = ""
) -> Backing:
    """Open what the settings name. `clock` is in the place of the store's own.

    Raises: StoreAddressError; StoreUnavailableError; NewerSchemaError.
    """
    if settings.store is None:
        return backing_in_memory(SqliteStore.open(settings.data, keeps_reserve=is_server), clock or SystemClock())
    return await open_postgres(settings.store, clock, serves_at=serves_at)


async def open_postgres(
    address: str,
    clock: Clock | None = None,
    *,
    bounds: QueueLimits = QueueLimits(),  # noqa: B008  frozen
    serves_at: str = "",
    store_clock: StoreClock | None = None,
) -> Backing:
    """Open the database at `address`, by which `store_clock` is set.

    Raises: StoreAddressError; StoreUnavailableError; NewerDatabaseError.
    """
    from reflecto.store.postgres.addresses import DatabaseAddressError  # noqa: PLC0415  only where it is the store
    from reflecto.store.postgres.call_places import PostgresCallPlaces  # noqa: PLC0415  the same
    from reflecto.store.postgres.database import Database  # noqa: PLC0415  the same
    from reflecto.store.postgres.store import PostgresStore  # noqa: PLC0415  the same
    from reflecto.store.postgres.unread_questions import PostgresUnreadQuestions  # noqa: PLC0415  the same

    store_clock = store_clock or StoreClock()
    try:
        database = await Database.open(
            address, bounds, version=version(), serves_at=serves_at, set_clock=store_clock.set
        )
    except DatabaseAddressError as error:
        raise StoreAddressError(str(error)) from None
    return Backing(
        store=PostgresStore(database),
        presence=database.presence,
        counters=database.counters,
        push_lines=database.push_lines,
        call_places=PostgresCallPlaces(database),
        unread=PostgresUnreadQuestions(database),
        clock=clock or store_clock,
        is_shared=True,
        cancel_elsewhere=database.news.cancel_elsewhere,
        when_lost=database.lease.when_lost,
        when_gone=database.lease.when_gone,
    )
