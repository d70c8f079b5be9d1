"""Where the two digits show while a hook waits, and that they go when it ends."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reflecto.cli.hook_number import number_shown
from reflecto.cli.main import main

WAIT_SECONDS = 20
SHOW = """
import sys
from reflecto.cli.hook_number import number_shown
with number_shown("07", "Run a command in ~/shop?", 60):
    print("shown", flush=True)
    sys.stdin.read()
print("gone", flush=True)
"""
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_another_terminal_shows_it_as_long_as_the_hook_waits(capsys: Output):
    with number_shown("07", "Run a command in ~/shop?", 60):
        assert main(["hook", "numbers"]) == 0
        assert capsys.readouterr() == ("07  Run a command in ~/shop?\n", "")
    assert main(["hook", "numbers"]) == 0
    assert capsys.readouterr() == ("", "No call waits for a number.\n")


def test_what_a_killed_hook_leaves_is_shown_to_nobody(capsys: Output, folder: Path):
    with subprocess.Popen([sys.executable, "-c", SHOW], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hook:
        assert hook.stdout is not None
        assert hook.stdout.readline() == b"shown\n"
        hook.kill()
    assert [*(folder / "reflecto-open-calls").iterdir()] != []
    assert main(["hook", "numbers"]) == 0
    assert capsys.readouterr().out == ""


AGENT = """
import os, subprocess, sys
os.open(os.ttyname(1), os.O_RDWR)  # of the leader of a session that has no terminal, it becomes the terminal
sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]], stdout=sys.stderr, start_new_session=True).returncode)
"""


def test_without_tmux_the_title_of_the_agents_terminal_says_it():
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT, SHOW],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"TMUX": ""},
    )
    os.close(theirs)
    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"shown\n"
        assert os.read(ours, 200) == b"\x1b[22;2t\x1b]2;Reflecto: type 07 on the phone\x07"
        process.communicate(timeout=WAIT_SECONDS)
        assert os.read(ours, 200) == b"\x1b]2;\x07\x1b[23;2t"
    os.close(ours)


def test_in_tmux_its_status_line_says_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    fake = folder / "tmux"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {folder}/said\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "default,1,0")
    monkeypatch.setenv("TMUX_PANE", "%3")
    with number_shown("07", "Run a command in ~/shop?", 60):
        assert (folder / "said").read_text() == "display-message -t %3 -N -d 60000 Reflecto: type 07 on the phone\n"
    assert (folder / "said").read_text().splitlines()[1:] == ["display-message -t %3 -d 1 "]


def test_where_nothing_can_show_it_the_hook_goes_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    assert shutil.which("ps") is None
    with number_shown("07", "Run a command in ~/shop?", 60):
        pass
