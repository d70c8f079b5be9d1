"""Databases for tests, on one cluster a session. One that a test has left is emptied and used again: making one takes
longer.
"""

from pathlib import Path
from typing import Final

from tests.postgres import Cluster, connected

# What a server keeps, its schema aside. Keys are not looked after while all of it goes.
_EMPTY: Final = """
SET session_replication_role = replica;
DO $$
DECLARE found text;
BEGIN
    FOR found IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema' LOOP
        EXECUTE format('DELETE FROM %I', found);
    END LOOP;
END $$;
"""


class Databases:
    """Gives each folder a database of its own. The cluster starts with the first."""

    def __init__(self) -> None:
        self._cluster: Cluster | None = None
        self._used: list[str] = []
        self._by_folder: dict[Path, str] = {}

    async def of(self, folder: Path, *, is_new: bool = False) -> str:
        """Return the address of the folder's database, which is empty when it is first asked for.

        `is_new`: it is to have no statistics of earlier rows.
        """
        if folder not in self._by_folder:
            for gone in [each for each in self._by_folder if not each.exists()]:
                self.give_back(gone)
            self._by_folder[folder] = await (self._new() if is_new or not self._used else self._empty())
        return self._by_folder[folder]

    def give_back(self, folder: Path) -> None:
        """Let the next test have the database; who has it open has closed it."""
        if folder in self._by_folder:
            self._used.append(self._by_folder.pop(folder))

    def forget(self, folder: Path) -> None:
        """Let nobody have the database again: it is too full to be emptied soon."""
        self._by_folder.pop(folder, None)

    def close(self) -> None:
        """Stop the cluster, if there is one."""
        if self._cluster is not None:
            self._cluster.remove()

    async def _new(self) -> str:
        self._cluster = self._cluster or Cluster.create()
        return await self._cluster.create_database()

    async def _empty(self) -> str:
        address = self._used.pop()
        async with connected(address) as connection:
            await connection.execute(_EMPTY)
        return address
