"""What docs/testing.md shows works: its files are tests that pass, its programs run, its curl line taps."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import reflecto.testing
from reflecto import Reflecto
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess

PAGE: Final = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")
BLOCKS: Final = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES: Final = {match[1]: block for block in BLOCKS if (match := re.match(r"# (\w+\.py)\n", block))}
PROGRAMS: Final = [block for block in BLOCKS if not block.startswith("# ")]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What a program finds in its environment: a real server, and a test token for it."""
    with ServerProcess(tmp_path / "data") as server:
        token = Phone.of_new_owner(server).create_token("CI", test=True)["token"]
        yield {"REFLECTO_URL": server.url, "REFLECTO_TEST_TOKEN": token}


def run(command: list[str], folder: Path, variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env=os.environ | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_the_page_has_two_files_and_two_programs():
    assert (sorted(FILES), len(PROGRAMS)) == (["conftest.py", "test_deploy.py"], 2)


def test_the_test_files_of_the_page_pass(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    ran = run([sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"], folder, {})
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr


def test_the_programs_of_the_page_run(place: dict[str, str], tmp_path: Path):
    for program in PROGRAMS:
        ran = run([sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-c", program], tmp_path, place)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_the_curl_line_of_the_page_taps(place: dict[str, str], tmp_path: Path):
    [command] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    with Reflecto(place["REFLECTO_URL"], place["REFLECTO_TEST_TOKEN"]) as client:
        question = client.create("Deploy?", ["Deploy", "Wait"])
        ran = run(["sh", "-euc", command], tmp_path, place | {"ID": question.id})
        assert (ran.returncode, ran.stderr) == (0, "")
        assert client.wait(question).choice == "Wait"


def test_each_name_that_the_page_imports_is_public():
    imported = re.findall(r"^from reflecto\.testing import (.+)$", PAGE, re.MULTILINE)
    assert {name for line in imported for name in line.split(", ")} <= set(reflecto.testing.__all__)


def test_importing_it_needs_neither_pytest_nor_the_server(tmp_path: Path):
    program = "import sys, reflecto.testing\nprint({'pytest', 'starlette', 'uvicorn'} & sys.modules.keys())"
    ran = run([sys.executable, "-c", program], tmp_path, {})
    assert (ran.stdout, ran.stderr) == ("set()\n", "")
