"""One server for all the fuzzing; at the end it tells how much it was asked and how often it failed."""

from collections.abc import Iterator

import pytest

from tests.conftest import CLOSING_LINES
from tests.fuzz.fuzzed_server import FuzzedServer
from tests.fuzz.stand_ins import StandIns


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[FuzzedServer]:
    """A server on a fresh store."""
    with FuzzedServer(tmp_path_factory.mktemp("fuzzed")).up() as running:
        yield running
    pytestconfig.stash[CLOSING_LINES].append(f"fuzzing: {running.ledger}")


@pytest.fixture(scope="session")
def stand_ins(server: FuzzedServer) -> StandIns:
    """Tokens and ids that exist."""
    return StandIns(server)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tell the operations apart: under pytest 9.2 schemathesis gives all their tests one id."""
    if label := getattr(item, "operation_label", None):
        item._id = item.id.with_params(label)  # noqa: SLF001  there is no other way to name it
