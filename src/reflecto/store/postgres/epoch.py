"""The epoch: raised whenever the database may have lost what it had shown, so that no number is given out twice.

A number that a phone saw before a failover must not come again for another message, which that phone would never show.
So numbers begin above epoch × 2^43 + milliseconds at connecting. Epoch 0 gives the numbers that SQLite gives.
JavaScript keeps numbers exactly for the first thousand epochs.
"""

from typing import Final

from reflecto.store.moving import EPOCH_SHIFT
from reflecto.store.postgres.connection import Host

_FIND: Final = (
    "SELECT number, cluster, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS milliseconds FROM epoch"
)
# The same change by another process, which this one has waited for, is not made again.
_FOLLOW: Final = (
    "INSERT INTO epoch (number, cluster) VALUES (0, $1) ON CONFLICT (only_row) DO UPDATE "
    "SET number = epoch.number + (epoch.cluster IS NOT NULL)::integer, cluster = $1 "
    "WHERE epoch.cluster IS DISTINCT FROM $1"
)


class Numbers:
    """Above which number queues go on in this process."""

    def __init__(self) -> None:
        self._epoch = 0
        self._begin = 0

    @property
    def floor(self) -> int:
        """Numbers are given out above it."""
        return (self._epoch << EPOCH_SHIFT) + self._begin

    async def settle(self, host: Host, *, is_first: bool) -> None:
        """Find the epoch, and raise it if this is another cluster or timeline than it was, in the open transaction.

        `is_first`: this connection has numbered nothing yet, so the server itself says from where (`begin_above`).
        """
        cluster = f"{host.system_identifier}/{host.timeline}"
        row = await host.connection.fetchrow(_FIND)
        if row is None or row["cluster"] != cluster:
            await host.connection.execute(_FOLLOW, cluster)
            row = await host.connection.fetchrow(_FIND)
        assert row is not None  # noqa: S101  it has just been made
        self._epoch = row["number"]
        self.begin_above(0 if is_first else row["milliseconds"])

    def begin_above(self, seq: int) -> None:
        """Give out numbers above `seq` only, counted in each epoch. No row is changed for that."""
        self._begin = max(self._begin, seq)
