"""`reflecto demo` from outside: right, or exit 1 with what failed; nothing is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reflecto.cli.exits import Exit
from tests.e2e.server_process import REFLECTO, environment, run_reflecto

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for leftovers in /proc")


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def leftovers(scratch: Path) -> list[str]:
    """Return the processes started under this scratch folder, and what is in it."""
    found = [str(path) for path in scratch.iterdir()]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={scratch}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            continue  # it has ended, or is not ours
    return found


def test_the_demo_asks_and_answers_for_real_and_leaves_nothing(scratch: Path):
    demo = run_reflecto("demo", env={"TMPDIR": str(scratch)})

    assert (demo.returncode, demo.stderr) == (0, "")
    steps = [line for line in demo.stdout.splitlines() if " ms  " in line]
    assert len(steps) == 6
    assert "answered: Approve" in demo.stdout
    assert "signature" in steps[4]
    assert leftovers(scratch) == []


def test_settings_and_proxies_of_this_user_do_not_reach_the_demo(scratch: Path):
    disturbing = {
        "TMPDIR": str(scratch),
        "REFLECTO_PORT": "1",
        "REFLECTO_PUBLIC_URL": "http://elsewhere.example",
        "REFLECTO_URL": "http://elsewhere.example",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
    }

    assert run_reflecto("demo", env=disturbing).returncode == 0


def test_a_demo_that_cannot_work_says_which_step_failed_and_exits_1(scratch: Path, tmp_path: Path):
    (tmp_path / "uvicorn.py").write_text("raise ImportError('broken on purpose')\n", "utf-8")

    demo = run_reflecto("demo", env={"TMPDIR": str(scratch), "PYTHONPATH": str(tmp_path)})

    assert demo.returncode == 1
    assert "starting the server: `reflecto serve` ended with exit code" in demo.stderr
    assert "broken on purpose" in demo.stderr
    assert "Right in every point" not in demo.stdout
    assert leftovers(scratch) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, Exit.INTERRUPTED), (signal.SIGTERM, Exit.TERMINATED)])
def test_an_interrupted_demo_takes_its_programs_and_its_folder_with_it(
    scratch: Path, number: signal.Signals, code: int
):
    demo = subprocess.Popen(
        [*REFLECTO, "demo"],
        env=environment({"TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    assert demo.stdout is not None
    with demo.stdout as printed:
        for line in printed:
            if b"a server runs" in line:
                break
        os.kill(demo.pid, number)
        assert demo.wait(20) == code

    assert leftovers(scratch) == []
    assert sys.platform != "win32"
