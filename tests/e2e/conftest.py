"""Real server processes on loopback, killed at the end of each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess

StartServer = Callable[..., ServerProcess]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def start_server(data: Path) -> Iterator[StartServer]:
    """Start servers; the first argument may be another data folder, the rest are options."""
    with ExitStack() as stack:

        def start(*options: str, folder: Path = data, env: dict[str, str] | None = None) -> ServerProcess:
            return stack.enter_context(ServerProcess(folder, *options, env=env))

        yield start


@pytest.fixture
def server(start_server: StartServer) -> ServerProcess:
    """A server on a fresh store."""
    return start_server()


@pytest.fixture
def phone(server: ServerProcess) -> Phone:
    """The first phone of that server's first owner."""
    return Phone.enrol(server.url, server.ready["code"])
