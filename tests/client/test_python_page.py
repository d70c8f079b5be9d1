"""What docs/python.md shows works: each block of Python runs as it stands, against a phone that signs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reflecto
from tests.client.asker_server import TOKEN
from tests.client.sending_server import SendingServer
from tests.client.signing_phone import SigningPhone

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
QUESTIONS = re.compile(r"\.(?:ask|create)\(|^    (?:drop|run)\(", re.MULTILINE)
SENDS = re.compile(r"\.(?:send|send_file|remind|ring)\(")


@pytest.fixture
def sending() -> Iterator[SendingServer]:
    server = SendingServer()
    server.start()
    yield server
    server.stop()


def test_the_page_has_python_blocks():
    assert len(BLOCKS) == 8


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(BLOCKS.index(block)))
def test_each_python_block_of_the_page_runs(sending: SendingServer, tmp_path: Path, block: str):
    phone = SigningPhone()
    sending.on_poll = lambda _count: phone.answers_all(sending)
    (tmp_path / "report.csv").write_text("day,orders\n", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-c", block],
        env=os.environ | {"REFLECTO_URL": sending.url, "REFLECTO_TOKEN": TOKEN},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(sending.prompts) == len(QUESTIONS.findall(block))
    assert len(sending.accepted) == len(SENDS.findall(block))


def test_each_name_that_the_page_imports_is_public():
    imported = re.findall(r"^from reflecto import (.+)$", PAGE, re.MULTILINE)
    assert {name for line in imported for name in line.split(", ")} <= set(reflecto.__all__)
