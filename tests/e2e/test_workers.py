"""`reflecto serve --workers N`: several processes at one address, kept by a parent that serves nothing itself."""

import asyncio
import os
import select
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from reflecto.config import ConfigError, load_settings
from reflecto.listening import AddressError, bind, bind_shared
from tests.databases import Databases
from tests.e2e.conftest import StartServer
from tests.e2e.phones import Phone
from tests.e2e.server_process import STOP_SECONDS, ServerProcess, run_reflecto

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers share an address as Linux lets them")

WORKERS = 2
CONNECTIONS = 80


@pytest.fixture
def database(databases: Databases, tmp_path: Path) -> str:
    """An empty database."""
    return asyncio.run(databases.of(tmp_path))


@pytest.fixture
def server(start_server: StartServer, database: str) -> ServerProcess:
    """A server of several workers."""
    return start_server("--store", database, "--workers", str(WORKERS))


def workers_of(server: ServerProcess) -> set[int]:
    """Return the processes that the server has started and that have not ended."""
    listed = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text("ascii")
    return {int(pid) for pid in listed.split()}


def sockets_of(pid: int) -> int:
    """Count the sockets that a process has open."""
    found = 0
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found += str(each.readlink()).startswith("socket:")
    return found


def wait_for_end(pid: int) -> None:
    """Return when a process is gone that need not be a child of this one."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], STOP_SECONDS)[0], "it is still there"
    finally:
        os.close(descriptor)


def test_workers_share_one_address_evenly_one_that_was_killed_comes_back_and_all_stop_together(server: ServerProcess):
    phone = Phone.enrol(server.url, server.ready["code"])
    pids = workers_of(server)
    assert len(pids) == WORKERS
    before = {pid: sockets_of(pid) for pid in pids}
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        for _ in range(CONNECTIONS // 4):  # a worker answers one after it has accepted all that came before
            assert phone.call("GET", "/v1/devices").status_code == 200
        shares = [sockets_of(pid) - before[pid] for pid in pids]
    assert min(shares) >= CONNECTIONS / WORKERS / 3, shares

    killed = min(pids)
    os.kill(killed, signal.SIGKILL)
    wait_for_end(killed)
    for _ in range(16):  # some of these wait until it is back; none is refused
        assert phone.call("GET", "/v1/devices").status_code == 200
    assert len(workers_of(server) - pids) == 1

    assert server.stop(signal.SIGTERM) == 0
    assert server.log.count("worker_restarted worker=") == server.log.count("code=-9") == 1
    assert server.log.count("server_stopped") == WORKERS


def free_ports(count: int) -> int:
    """Return the first of so many free ports in a row."""
    while True:
        with ExitStack() as stack:
            probe = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            first: int = probe.getsockname()[1]
            try:
                for port in range(first + 1, first + count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
        return first


def test_each_worker_says_what_it_counts_at_a_port_of_its_own(start_server: StartServer, database: str):
    first = free_ports(WORKERS)
    start_server("--store", database, "--workers", str(WORKERS), env={"REFLECTO_METRICS_PORT": str(first)})
    for _ in range(3):
        assert httpx.get(f"http://127.0.0.1:{first}/healthz").status_code == 200
    counted = 'reflecto_http_requests_total{route="/healthz",method="GET",status="200"} 3'
    told = [httpx.get(f"http://127.0.0.1:{first + place}/metrics").text for place in range(WORKERS)]
    assert [counted in text for text in told] == [True, False]


def test_a_port_for_metrics_that_is_taken_is_named_in_one_line(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        variables = {"REFLECTO_METRICS_PORT": str(port)}
        ended = run_reflecto("serve", "--data", tmp_path / "data", "--port", "0", env=variables)
    assert ended.returncode != 0
    assert ended.stderr.strip().endswith(f"port {port}: Address already in use; metrics_port takes another one")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("port", ["0", "65536", "65535"])
def test_a_port_for_metrics_that_cannot_be_is_refused(port: str):
    given = {"REFLECTO_METRICS_PORT": port, "REFLECTO_STORE": "postgresql://a@b/c", "REFLECTO_WORKERS": "2"}
    with pytest.raises(ConfigError, match="metrics_port"):
        load_settings({}, environ=given)


def test_no_worker_outlives_a_parent_that_was_killed(server: ServerProcess):
    pids = workers_of(server)
    server.kill()
    for pid in pids:
        wait_for_end(pid)


def test_a_server_whose_workers_cannot_start_says_why_once(tmp_path: Path, database: str):
    options = ("--data", tmp_path, "--port", "0", "--workers", "2", "--store", database)
    failed = run_reflecto("serve", *options, env={"REFLECTO_KEYS": "nonsense"})
    assert (failed.returncode, failed.stdout) == (2, "")
    errors = [line for line in failed.stderr.splitlines() if "WARNING" not in line]
    assert errors == ["Error: REFLECTO_KEYS: a server's keys are rfkeys_ and 91 letters, digits, - or _"]


def test_workers_are_refused_on_sqlite():
    with pytest.raises(ConfigError, match="workers: SQLite is for one process"):
        load_settings({"workers": 2}, environ={})


def test_an_address_that_another_server_has_is_refused_although_workers_could_share_it():
    with bind("127.0.0.1", 0) as taken, pytest.raises(AddressError, match="cannot listen"):
        bind_shared("127.0.0.1", taken.getsockname()[1], 2)
    first, *others = bind_shared("127.0.0.1", 0, 2)
    with first, others[0], pytest.raises(AddressError, match="cannot listen"):
        bind_shared("127.0.0.1", first.getsockname()[1], 2)
