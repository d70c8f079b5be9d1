"""The curl commands of README, docs/send.md and docs/ask.md, and the lines for completion, run as they are pasted."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.phones import Phone, ask
from tests.e2e.server_process import ServerProcess, environment

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = {name: (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/send.md", "docs/ask.md")}
WAIT_SECONDS: Final = 30
needs_curl: Final = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")


def commands(page: str) -> list[str]:
    """Return each curl command of the page, with the lines that it goes on for."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    found = [command for block in blocks for command in re.findall(r"^curl (?:.*\\\n)*.*$", block, re.MULTILINE)]
    assert found, page
    return found


CURLS: Final = [pytest.param(page, each, id=f"{page}:{n}") for page in PAGES for n, each in enumerate(commands(page))]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("pages") / "data") as running:
        yield running


def shell(command: str, home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env=environment({"HOME": str(home), "PATH": path, **variables}),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@needs_curl
@pytest.mark.parametrize(("page", "command"), CURLS)
def test_each_curl_command_is_taken_by_the_server(page: str, command: str, server: ServerProcess, tmp_path: Path):
    phone = Phone.of_new_owner(server)
    question = ask(server.url, phone.token).json()["id"]
    phone.answer(question, 0)
    local = re.sub(r"https://reflecto\.example|http://127\.0\.0\.1:8787", server.url, command)
    local = local.replace("int_…", question)
    ran = shell(local, tmp_path, REFLECTO_URL=server.url, REFLECTO_TOKEN=phone.token)
    assert ran.returncode == 0, ran.stderr
    reply: dict[str, Any] = json.loads(ran.stdout)
    assert "error" not in reply
    assert "errors" not in reply
    meant = {"foreign_priority"} if page == "docs/send.md" else set()
    assert {warning["code"] for warning in reply.get("warnings", ())} <= meant


def test_the_lines_for_completion_work_in_a_fresh_home(tmp_path: Path):
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    lines = re.findall(r"^\| (bash|zsh|fish) \| `(.+?)`", page, re.MULTILINE)
    assert [name for name, _ in lines] == ["bash", "zsh", "fish"]
    for _, line in lines:
        ran = shell(line, tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
    written = [path for path in tmp_path.rglob("*reflecto*") if path.is_file()]
    assert len(written) == len(lines)
    assert all("reflecto" in path.read_text() for path in written)
