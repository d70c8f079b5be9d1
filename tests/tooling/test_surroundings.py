"""The environment of the tests is the same whatever surrounds them."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.surroundings import SET, UMASK, steady

ROOT: Final = Path(__file__).parents[2]
HOSTILE: Final = {
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "XDG_DATA_HOME": "/nonexistent",
    "CLAUDE_CONFIG_DIR": "/nonexistent",
    "CODEX_HOME": "/nonexistent",
    "LANG": "tr_TR.ISO-8859-9",
    "LC_ALL": "C",
    "TZ": "Pacific/Chatham",
    "COLUMNS": "20",
    "NO_COLOR": "1",
    "FORCE_COLOR": "1",
    "TERM": "xterm-256color",
    "PYTHONIOENCODING": "ascii",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "SSL_CERT_FILE": "/nonexistent",
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "INPUT_QUESTION": "Not of the test",
    "REFLECTO_URL": "http://127.0.0.1:9",
    "REFLECTO_TOKEN": "rfk_live_" + "z" * 32,
    "REFLECTO_DATA": "/nonexistent",
    "REFLECTO_CONFIG": "/nonexistent",
    "REFLECTO_CLIENT_CONFIG": "/nonexistent",
}
PROBE: Final = """
import json, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.surroundings import settle
settle(Path(sys.argv[2]))
umask = os.umask(0)
heeds = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
print(json.dumps([sorted(os.environ), umask, time.strftime("%z"), heeds]))
"""


def test_only_what_a_machine_is_stays(tmp_path: Path):
    kept = steady(HOSTILE | {"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "USER": "ann"}, tmp_path)  # noqa: S108
    programs = str(Path(sys.executable).parent)
    assert kept == {"PATH": f"{programs}:/usr/bin:/bin", "TMPDIR": "/tmp", "USER": "ann", "HOME": str(tmp_path)} | SET  # noqa: S108


def test_an_activated_environment_is_as_one_that_is_not(tmp_path: Path):
    programs = str(Path(sys.executable).parent)
    plain = steady({"PATH": "/usr/bin:/bin"}, tmp_path)
    assert steady({"PATH": f"{programs}:/usr/bin::/bin", "VIRTUAL_ENV": "x"}, tmp_path) == plain


def test_this_run_has_it():
    assert not HOSTILE.keys() & os.environ.keys() - SET.keys() - {"HOME"}
    assert Path(os.environ["HOME"]).is_dir()
    umask = os.umask(UMASK)
    assert umask == UMASK


def test_files_that_tests_make_have_the_usual_mode(tmp_path: Path):
    file = tmp_path / "file"
    file.touch()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_umask_time_zone_and_ignored_signals_of_the_shell_do_not_reach_a_test(tmp_path: Path):
    command = [sys.executable, "-c", PROBE, str(ROOT), str(tmp_path)]
    script = 'umask 077; trap "" INT HUP TERM; exec "$@"'
    ran = subprocess.run(
        ["sh", "-c", script, "sh", *command],
        env=HOSTILE | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ran.stdout == f'[["HOME", "LANG", "PATH", "TZ"], {UMASK}, "+0000", true]\n'


def test_tests_that_failed_in_somebody_s_shell_pass_there(tmp_path: Path):
    chosen = ["tests/agents/test_hook_install.py", "tests/cli/test_moments.py"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        env=HOSTILE | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stdout
    assert not list(tmp_path.iterdir())
