"""One server for all the fuzzing; at the end it tells how much it was asked and how often it failed."""

from collections.abc import Iterator

import pytest

from tests.fuzz.fuzzed_server import FuzzedServer
from tests.fuzz.stand_ins import StandIns


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedServer]:
    """A server on a fresh store."""
    with FuzzedServer(tmp_path_factory.mktemp("fuzzed")).up() as running:
        yield running


@pytest.fixture(scope="session")
def stand_ins(server: FuzzedServer) -> StandIns:
    """Tokens and ids that exist."""
    return StandIns(server)


_REPORT = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session", autouse=True)
def _count(server: FuzzedServer, pytestconfig: pytest.Config) -> Iterator[None]:
    yield
    pytestconfig.stash.setdefault(_REPORT, []).append(f"fuzzing: {server.ledger}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the count."""
    for line in config.stash.get(_REPORT, []):
        terminalreporter.write_line(line)
