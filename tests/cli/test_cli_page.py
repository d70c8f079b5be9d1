"""What docs/cli.md shows works: each block of shell runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.asker_server import AskerServer

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_shell_blocks():
    assert len(BLOCKS) == 3


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(BLOCKS.index(block)))
def test_each_shell_block_of_the_page_runs(asker: AskerServer, block: str):
    asker.on_poll = lambda _count: asker.answer(0)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(asker.prompts) == block.count("reflecto ask")
