"""`make test` ends with what ran and how long it took, and behind that with pytest's closing line."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def programs(folder: Path) -> None:
    """Stand-ins for what the script runs, each of which says its name."""
    npm = 'for last; do :; done\nprintf \'{"numPassedTests": 12}\' >"${last#--outputFile.json=}"\n'
    python = 'printf "%s\\n" "$PYTEST_RAN_BEFORE"\necho "== 3 passed in 1s == $*"\n'
    bodies = {"make": 'echo "make $*"\n', "npm": npm, "node": "echo '12 passed'\n", "python": python, "chromium": ""}
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name, body in bodies.items():
        program = folder / ".venv" / "bin" / name
        program.write_text(f"#!/bin/sh\n{body}", "utf-8")
        program.chmod(0o700)


def test_its_last_lines_name_each_part_with_its_count_and_its_seconds(tmp_path: Path):
    programs(tmp_path)
    (tmp_path / "scripts").mkdir()
    for name in ("test", "chromium"):
        (tmp_path / "scripts" / name).write_text((ROOT / "scripts" / name).read_text("utf-8"), "utf-8")
    ran = subprocess.run(
        ["sh", "scripts/test", "-k", "expiry"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=30
    )
    lint, web, python, closing = ran.stdout.splitlines()[-4:]
    assert re.fullmatch(r"lint +nothing found, \d+ s", lint)
    assert re.fullmatch(r"web tests +12 passed, \d+ s", web)
    assert python == "Python tests  as follows"
    assert closing.startswith("== 3 passed in 1s == -m pytest ")
    assert closing.endswith(" -k expiry")


def test_pytests_own_line_stays_the_last(tmp_path: Path):
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n", "utf-8")
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"), "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--rootdir", str(tmp_path)]
    environment = os.environ | {"PYTEST_RAN_BEFORE": "lint  nothing found, 1 s\nweb tests  12 passed, 2 s"}
    ran = subprocess.run(
        [*command, str(tmp_path)],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = ran.stdout.splitlines()[-3:]
    assert lines[:2] == ["lint  nothing found, 1 s", "web tests  12 passed, 2 s"], ran.stdout + ran.stderr
    assert re.search(r"1 passed in [\d.]+s", lines[2])
