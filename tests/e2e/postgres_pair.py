"""A primary and its synchronous standby, which tests break and mend."""

import asyncio

from tests.postgres import USER, Cluster, connected


class Pair:
    """Two clusters that change places. Every test begins with both whole (`mend`)."""

    def __init__(self) -> None:
        self.primary = Cluster.create()
        self.standby = Cluster.create()
        self._is_whole = False

    async def mend(self) -> None:
        """Make the standby follow the primary anew, if it does not."""
        await asyncio.to_thread(self.primary.thaw)
        if self._is_whole:
            return
        if self.standby.is_running:
            self.standby.thaw()
            await asyncio.to_thread(self.standby.stop)
        await self.primary.wait_for_standbys()
        await asyncio.to_thread(self.standby.follow, self.primary)
        await self.primary.wait_for_standbys(self.standby.name)
        self._is_whole = True

    async def promote(self) -> None:
        """Make the standby the primary; the other one is left as it is."""
        self._is_whole = False
        await asyncio.to_thread(self.standby.promote)
        self.primary, self.standby = self.standby, self.primary

    async def break_standby(self) -> None:
        """Stop the standby as a crash would."""
        self._is_whole = False
        await asyncio.to_thread(self.standby.kill)

    def address(self, database: str, *ports: int) -> str:
        """Return the address of a database on both, or on the ports given, in this order."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports or (self.primary.port, self.standby.port))
        return f"postgresql://{USER}@{hosts}/{database}"

    def remove(self) -> None:
        """Stop both and delete all they had."""
        self.standby.remove()
        self.primary.remove()


async def execute(cluster: Cluster, database: str, *statements: str) -> None:
    """Execute statements as an administrator."""
    async with connected(cluster.address(database)) as connection:
        for statement in statements:
            await connection.execute(statement)


async def wait_until(cluster: Cluster, condition: str) -> None:
    """Wait until a condition on the database is true."""
    async with connected(cluster.address()) as connection:
        while not await connection.fetchval(f"SELECT {condition}"):
            await connection.execute("SELECT pg_sleep(0.02)")
