"""Servers to be measured: SQLite, or PostgreSQL on the disk with one process or several, each with owners and clients.

Processor time is counted apart: of the servers, and of all processes of the database.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, Self

from bench._wire import LIMITS_OFF
from reflecto.bootstrap import open_services
from reflecto.config import Settings
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess
from tests.postgres import Cluster

PHONES_PER_OWNER: Final = 2


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the processor time that processes have used, with that of children that have ended (Linux)."""
    ticks = 0
    for pid in reversed(pids):  # the parent last: what has ended meanwhile is in its count
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Installation:
    """So many server processes on one store; without a cluster: one, on SQLite. `with` ends them and the clients."""

    def __init__(self, name: str, folder: Path, processes: int = 1, cluster: Cluster | None = None) -> None:
        self.name = name
        self._cluster = cluster
        self._stack = ExitStack()
        self._data = folder / "data"
        folder.mkdir()
        config = folder / "reflecto.toml"
        config.write_text(LIMITS_OFF, "utf-8")
        self._store = None if cluster is None else asyncio.run(cluster.create_database())
        env = {} if self._store is None else {"REFLECTO_STORE": self._store}
        self.servers = [
            self._stack.enter_context(ServerProcess(self._data, "--config", str(config), env=env))
            for _ in range(processes)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def found_owners(self, count: int) -> list[list[Phone]]:
        """Bring owners into being, each with its phones, whose queues are empty. The first phone has a token."""
        url = self.servers[0].url
        first = [Phone.enrol(url, code) for code in asyncio.run(self._invite([None] * count))]
        owners = [[each] for each in first]
        for _ in range(PHONES_PER_OWNER - 1):
            codes = asyncio.run(self._invite([each.owner_id for each in first]))
            for phones, code in zip(owners, codes, strict=True):
                phones.append(Phone.enrol(url, code))
        for phone in (each for phones in owners for each in phones):
            entries = phone.call("GET", "/v1/sync/entries?after=0").json()["entries"]
            if entries:
                phone.ack(entries[-1]["seq"])
        return owners

    def start_clients(self, owners: Sequence[Sequence[Phone]]) -> "Clients":
        """Start the clients. With several servers an owner asks at one of them, and its phones are at the next."""
        ports = [each.port for each in self.servers]
        plans = [
            {
                "asks_at": ports[number % len(ports)],
                "phones_at": ports[(number + 1) % len(ports)],
                "token": phones[0].token,
                "phones": [each.device_token for each in phones],
            }
            for number, phones in enumerate(owners)
        ]
        clients = Clients(plans)
        self._stack.callback(clients.close)
        return clients

    def used_seconds(self) -> tuple[float, float]:
        """Return the processor time of the servers and of the database so far; SQLite's is in the server's."""
        database = 0.0 if self._cluster is None else cpu_seconds(self._cluster.pids())
        return cpu_seconds([each.pid for each in self.servers]), database

    async def _invite(self, owner_ids: Sequence[str | None]) -> list[str]:
        """Return a setup code for each owner, or for a new one."""
        services = await open_services(Settings(data=self._data, store=self._store), is_server=False)
        try:
            return [(await services.enrolment.invite(each, new_owner=each is None)).code for each in owner_ids]
        finally:
            await services.store.close()


class Clients:
    """The process of `bench._clients`."""

    def __init__(self, plans: Sequence[dict[str, Any]]) -> None:
        command = [sys.executable, "-m", "bench._clients", json.dumps(plans)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready\n"

    def run(self, kind: str, seconds: float) -> dict[str, Any]:
        """Let them ask or send for so long; return what they measured."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{kind} {seconds}\n")
        self._process.stdin.flush()
        measured: dict[str, Any] = json.loads(self._line())
        return measured

    def close(self) -> None:
        """End them."""
        with self._process:
            self._process.kill()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()
