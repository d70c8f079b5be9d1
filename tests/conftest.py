"""What holds for every test; the rest of the strictness is in pyproject.toml."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import settings

from tests.databases import Databases
from tests.surroundings import settle

MEMORY: Final = Path("/dev/shm")  # noqa: S108  the folders in it have unpredictable names
MEMORY_MIN_BYTES: Final = 512 * 1024 * 1024

# How fast this machine is today proves nothing; pytest-timeout bounds each test as a whole.
settings.register_profile("reflecto", settings(), deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)  # for `--hypothesis-profile=thorough`
settings.load_profile("reflecto")


_HOME = pytest.StashKey["TemporaryDirectory[str]"]()
CLOSING_LINES = pytest.StashKey[list[str]]()  # what tests want to have said at the end of the run


@pytest.hookimpl(trylast=True)  # pytest has read by then whether its own output has colours
def pytest_configure(config: pytest.Config) -> None:
    """Let `async def` be enough to make a test asynchronous, and let no test see what this shell has set."""
    config.option.anyio_mode = "auto"
    config.stash[_HOME] = TemporaryDirectory(prefix="reflecto-home-", ignore_cleanup_errors=True)
    config.stash[CLOSING_LINES] = []
    settle(Path(config.stash[_HOME].name))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse two tests of one name: workers would run one of them and lose the other without a word."""
    names = Counter(item.nodeid for item in items)
    if twice := [name for name, count in names.items() if count > 1]:
        raise pytest.UsageError(f"several tests are called {', '.join(twice)}")


@pytest.hookimpl(trylast=True)  # the last fixtures end in this hook, too
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's closing lines to whoever started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["closing_lines"] = session.config.stash[CLOSING_LINES]


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_testnodedown(node: Any) -> None:
    """Take them."""
    node.config.stash[CLOSING_LINES].extend(getattr(node, "workeroutput", {}).get("closing_lines", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what `make test` ran before this and how long that took; pytest's own line stays the last."""
    for line in terminalreporter.config.stash[CLOSING_LINES]:
        terminalreporter.write_line(line)
    for line in os.environ.get("PYTEST_RAN_BEFORE", "").splitlines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def nothing_in_the_home_folder(pytestconfig: pytest.Config) -> Iterator[None]:
    """Hold every test to folders of its own: what one leaves in the home folder, all others would find."""
    folder = Path(pytestconfig.stash[_HOME].name)
    yield
    assert sorted(path.name for path in folder.iterdir()) == [], "a test has written to the home folder"


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a folder in memory, where there is some: most of a test's time would go into waiting for the disk.

    `tests/e2e` keeps the disk; it proves what survives.
    """
    if "e2e" in request.path.parts or not MEMORY.is_dir() or disk_usage(MEMORY).free < MEMORY_MIN_BYTES:
        yield tmp_path_factory.mktemp("test")
        return
    with TemporaryDirectory(prefix="reflecto-test-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Give out databases of PostgreSQL; a server for them starts when the first is asked for."""
    given = Databases()
    yield given
    given.close()


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Run asynchronous tests on the loop the server runs on; an exception in any task of theirs fails them."""
    return "asyncio", {"use_uvloop": sys.platform != "win32"}
