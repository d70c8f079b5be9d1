"""Each block of docs/snippets.md runs as it stands, against a real server and a phone that taps."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.phones import Phone, make_codes
from tests.e2e.server_process import ServerProcess, environment
from tests.phone.programs import script

PAGE: Final = (Path(__file__).parents[2] / "docs" / "snippets.md").read_text("utf-8")
BLOCKS: Final = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
WAIT_SECONDS: Final = 420  # a compiler that builds its own library first, on a busy machine

# Language of the block to the file's name and what runs it; `go` is where its own installer puts it, too.
RUNS: Final = {
    "js": ("ask.mjs", ("node",)),
    "go": ("ask.go", ("go", "run")),
    "php": ("ask.php", ("php", "-d", "display_errors=stderr")),
    "powershell": ("ask.ps1", ("pwsh", "-NoProfile", "-File")),
}
PATH: Final = f"{os.environ['PATH']}{os.pathsep}/usr/local/go/bin"


def found(language: str) -> bool:
    return shutil.which(RUNS[language][1][0], path=PATH) is not None


def languages() -> list[Any]:
    return [
        pytest.param(name, marks=[] if found(name) else pytest.mark.skip(reason=f"{name} is not on this machine"))
        for name in RUNS
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("snippets") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all, since Go builds its library anew in each."""
    return tmp_path_factory.mktemp("home")


def run(language: str, folder: Path, home: Path, url: str, token: str) -> "subprocess.CompletedProcess[str]":
    name, command = RUNS[language]
    (folder / name).write_text(BLOCKS[language], "utf-8")
    program = shutil.which(command[0], path=PATH)
    assert program is not None
    return subprocess.run(
        [program, *command[1:], name],
        env=environment(
            {"REFLECTO_URL": url, "REFLECTO_TOKEN": token, "PATH": PATH, "HOME": str(home), "CGO_ENABLED": "0"}
        ),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_every_block_of_the_page_is_run_here():
    assert set(BLOCKS) == set(RUNS)


@pytest.mark.timeout(WAIT_SECONDS + 60)
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize(("answer", "printed"), [("Approve", "deploying\n"), ("Deny", "")])
def test_a_snippet_sends_asks_and_acts_on_the_tap_alone(
    language: str, answer: str, printed: str, server: ServerProcess, home: Path, tmp_path: Path
):
    phone = Phone.of_new_owner(server)
    (code,) = make_codes(server.data, 1, owner_id=phone.owner_id)
    state = tmp_path / "phone.json"
    with script("phone", code, "--url", server.url, "--state", state, "--json", "--answer", answer) as thumb:
        thumb.event("enrolled")
        ran = run(language, tmp_path, home, server.url, phone.token)
        assert (ran.returncode, ran.stdout) == (0, printed), ran.stderr
        said = thumb.event("notification")
        assert (said["title"], said["message"]) == ("CI", "Build 1207 is green")


@pytest.mark.timeout(WAIT_SECONDS + 60)
@pytest.mark.parametrize("language", languages())
def test_a_snippet_that_is_refused_fails_and_does_not_act(
    language: str, server: ServerProcess, home: Path, tmp_path: Path
):
    ran = run(language, tmp_path, home, server.url, "rfk_live_" + "b" * 32)
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert "invalid_token" in ran.stderr
