"""The last release beside this version on one database, as while servers are upgraded one after another.

There is no release with PostgreSQL yet: until there is a tag of one, this commit stands for it, beside a schema that
has grown by a step. The wheel is built from the tag either way.
"""

import asyncio
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from reflecto.store.postgres.schema import migrate
from reflecto.store.postgres.steps import load_steps
from tests.e2e.phones import Phone, ask, read
from tests.e2e.server_process import REFLECTO, ServerProcess
from tests.postgres import Cluster
from tests.schema.test_two_versions import EXPAND, connected

ROOT = Path(__file__).parents[2]
STORE = "src/reflecto/store/postgres/steps.py"


def git(*arguments: str) -> bytes:
    """Run git in the clone and return what it says."""
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, timeout=30).stdout


def last_release() -> str:
    """Return the newest tag of a version with PostgreSQL, or HEAD where there is none."""
    for tag in git("tag", "--list", "v*", "--sort=-version:refname").decode().split():
        if git("ls-tree", tag, STORE):
            return tag
    return "HEAD"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the last release, as its wheel has it."""
    folder = tmp_path_factory.mktemp("release")
    with zipfile.ZipFile(BytesIO(git("archive", "--format=zip", last_release()))) as archive:
        archive.extractall(folder / "source")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=folder / "source", check=True, capture_output=True, timeout=60)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


@pytest.fixture
def old(released: Path, tmp_path: Path, grown: str) -> Iterator[ServerProcess]:
    """A server of the last release, started on a database that this version has brought up to date."""
    env = {"PYTHONPATH": str(released)}
    found = [sys.executable, "-c", "import reflecto; print(reflecto.__file__)"]
    assert subprocess.check_output(found, env=env, text=True, timeout=30).startswith(str(released))
    with ServerProcess(tmp_path / "data", "--store", grown, env=env, program=REFLECTO) as server:
        yield server


@pytest.fixture
def grown(cluster: Cluster) -> str:
    """A database with the schema of this version, and a step more."""

    async def make() -> str:
        address = await cluster.create_database()
        async with connected(address) as connection:
            await migrate(connection, [*load_steps(), EXPAND])
        return address

    return asyncio.run(make())


def test_the_last_release_and_this_version_serve_one_database(old: ServerProcess, tmp_path: Path, grown: str):
    phone = Phone.enrol(old.url, old.ready["code"])
    with ServerProcess(tmp_path / "data", "--store", grown) as new:
        elsewhere = Phone(new.url, phone.keys, vars(phone))
        for here, there in ((phone, elsewhere), (elsewhere, phone)):
            asked = ask(here.url, phone.token, f"From {here.url}?").json()["id"]
            there.read_until("interaction", asked)
            assert there.answer(asked, 0).status_code == 200
            assert read(here.url, phone.token, asked, wait_seconds=10).json()["status"] == "answered"
