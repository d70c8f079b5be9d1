"""What docs/cli.md shows works: each block of shell runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.sending_server import SendingServer
from tests.client.signing_phone import SigningPhone

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SENDS = re.compile(r"\breflecto (?:send|file|ring|remind \")")


def test_the_page_has_shell_blocks():
    assert len(BLOCKS) == 7


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(BLOCKS.index(block)))
def test_each_shell_block_of_the_page_runs(sending: SendingServer, tmp_path: Path, block: str):
    phone = SigningPhone()
    sending.on_poll = lambda _count: phone.answers_all(sending)
    (tmp_path / "report.csv").write_text("day,orders\n", "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        env=os.environ | {"PATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(sending.prompts) == block.count("reflecto ask")
    assert len(sending.accepted) == len(SENDS.findall(block))
